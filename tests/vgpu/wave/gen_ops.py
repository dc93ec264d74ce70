#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Opcodes of gfx90a and gfx942, with their operands, from LLVM's disassembler.

gen_ops.py LIBLLVM OUT-DIRECTORY

LLVM is shown every opcode of every format in an instruction whose fields all hold other
registers. The name that it prints is the opcode's name, and the registers say which fields are
operands, in which order, and how many registers each has. So no number is typed here. ops.h has
the names, tables.h what decode.c reads.
"""
import ctypes
import re
import sys

TARGETS = ("gfx90a", "gfx942")
SUFFIX = re.compile(r"_(e32|e64|sdwa|dpp)$")
REGISTER = re.compile(r"^([sva])(?:\[(\d+):(\d+)\]|(\d+))$")


class Disassembler:
    """LLVM's, for one kind of GPU."""

    def __init__(self, library, cpu):
        self.llvm = library
        self.context = library.LLVMCreateDisasmCPU(b"amdgcn-amd-amdhsa", cpu.encode(), None, 0,
                                                   None, None)
        self.out = ctypes.create_string_buffer(256)
        self.size = 0 # of the instruction that text() was shown

    def text(self, *words):
        """Name and operands of the instruction in these words; None: there is none."""
        data = b"".join(word.to_bytes(4, "little") for word in words) + bytes(16)
        self.size = self.llvm.LLVMDisasmInstruction(self.context, data, len(data), 0, self.out,
                                                    256)
        if not self.size:
            return None
        name, _, rest = self.out.value.decode().strip().partition(" ")
        if not name.isidentifier():
            return None
        return SUFFIX.sub("", name), [word for word in rest.replace(",", " ").split() if word]


def load(path):
    library = ctypes.CDLL(path)
    for part in ("TargetInfo", "TargetMC", "Disassembler"):
        getattr(library, "LLVMInitializeAMDGPU" + part)()
    library.LLVMCreateDisasmCPU.restype = ctypes.c_void_p
    library.LLVMDisasmInstruction.restype = ctypes.c_size_t
    library.LLVMDisasmInstruction.argtypes = [
        ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_char_p,
        ctypes.c_size_t]
    return library


# The register that a field has in all instructions that are shown.
FIELDS = {4: "DST", 6: "DST2", 12: "SRC0", 8: "SRC1", 16: "SRC2"}
LITERAL = 0xabcdef
SRC = 0x10c | 0x108 << 9 | 0x110 << 18
# Opcodes of a format, and the words to show for one, the first that LLVM knows.
FORMATS = {
    "SOP2": (0x60, [lambda o: (0x80000000 | o << 23 | 4 << 16 | 8 << 8 | 12,)]),
    "SOPK": (0x1c, [lambda o: (0xb0000000 | o << 23 | 4 << 16 | 1, LITERAL),
                    lambda o: (0xb0000000 | o << 23 | 4 << 16 | 0xf801, LITERAL)]),
    "SOP1": (0x100, [lambda o: (0xbe800000 | 4 << 16 | o << 8 | 12,)]),
    "SOPC": (0x80, [lambda o: (0xbf000000 | o << 16 | 8 << 8 | 12,)]),
    "SOPP": (0x80, [lambda o: (0xbf800000 | o << 16 | 1,), lambda o: (0xbf800000 | o << 16,)]),
    "SMEM": (0x100, [lambda o: (0xc0020000 | o << 18 | 4 << 6 | 6, 0),
                     lambda o: (0xc0000000 | o << 18 | 4 << 6 | 6, 0)]),
    "VOP2": (0x3e, [lambda o: (o << 25 | 4 << 17 | 8 << 9 | 0x10c, LITERAL)]),
    "VOP1": (0x100, [lambda o: (0x7e000000 | 4 << 17 | o << 9 | 0x10c, 0),
                     lambda o: (0x7e000000 | o << 9,)]),
    "VOPC": (0x100, [lambda o: (0x7c000000 | o << 17 | 8 << 9 | 0x10c, 0)]),
    "VOP3": (0x380, [lambda o: (0xd0000000 | o << 16 | 4, SRC),
                     lambda o: (0xd0000000 | o << 16 | 4, 0x10c | 0x108 << 9),
                     lambda o: (0xd0000000 | o << 16 | 4, 0x10c | 8 << 9),
                     lambda o: (0xd0000000 | o << 16 | 4, 12 | 8 << 9),
                     lambda o: (0xd0000000 | o << 16 | 4, 0x10c),
                     lambda o: (0xd0000000 | o << 16 | 4, 0x10c | 0x108 << 9 | 16 << 18),
                     lambda o: (0xd0000000 | o << 16 | 4 | 6 << 8, 0x10c | 0x108 << 9 | 16 << 18),
                     lambda o: (0xd0000000 | o << 16 | 4 | 6 << 8, SRC),
                     lambda o: (0xd0000000 | o << 16 | 4 | 6 << 8, 0x10c | 0x108 << 9)]),
    "VOP3P": (0x80, [lambda o: (0xd3800000 | o << 16 | 4 | 0x4000, SRC | 3 << 27),
                     lambda o: (0xd3800000 | o << 16 | 4, SRC),
                     lambda o: (0xd3800000 | o << 16 | 4, 0x10c | 0x108 << 9),
                     lambda o: (0xd3800000 | o << 16 | 4, 0x10c | 3 << 27),
                     lambda o: (0xd3800000 | o << 16 | 4, 0x10c)]),
    "DS": (0x100, [lambda o, d=d: (0xd8000000 | o << 17, d) for d in (
        12 | 8 << 8 | 16 << 16 | 4 << 24, 12 | 8 << 8 | 4 << 24, 12 | 4 << 24,
        12 | 8 << 8 | 16 << 16, 12 | 8 << 8, 4 << 24, 8 << 8)]),
    "FLAT": (0x80, [lambda o, d=d: (0xdc008000 | o << 18, d | 0x7f << 16) for d in (
        12 | 8 << 8 | 4 << 24, 12 | 4 << 24, 12 | 8 << 8, 12)]),
    "MUBUF": (0x80, [lambda o: (0xe0001000 | o << 18, 12 | 4 << 8 | 2 << 16 | 16 << 24),
                     lambda o: (0xe0000000 | o << 18, 0)]),
}


def operand(word, at, last):
    """Field, register file and width of a word of LLVM's text; None: nothing of an instruction."""
    if word == "vcc":
        return ("DST", "SRC2", "DST2")[0 if at == 0 else 1 if at == last else 2], "s", 2
    if word == hex(LITERAL):
        return "LITERAL", "k", 1
    match = REGISTER.match(word)
    if not match:
        return None
    first = int(match[2] or match[4])
    if first not in FIELDS:
        raise LookupError(word)
    return FIELDS[first], match[1], int(match[3]) - first + 1 if match[3] else 1


def instruction(disassembler, words):
    """Name and operands; None: LLVM knows none, or an operand has a register of another field."""
    text = disassembler.text(*words)
    if not text or any("/*" in word for word in text[1]):
        return None
    try:
        slots = [operand(word, at, len(text[1]) - 1) for at, word in enumerate(text[1])]
    except LookupError:
        return None
    return text[0], [slot for slot in slots if slot]


def rows(disassembler, count, templates):
    """Number, name and operands of each opcode."""
    for number in range(count):
        found = (instruction(disassembler, template(number)) for template in templates)
        first = next((one for one in found if one), None)
        if first:
            yield number, *first


def print_tables(library, names, out):
    for cpu in TARGETS:
        disassembler = Disassembler(library, cpu)
        for form, (count, templates) in FORMATS.items():
            print(f"static const struct wave_row {cpu}_{form}[] = {{", file=out)
            for number, name, slots in rows(disassembler, count, templates):
                names.add(name)
                text = ", ".join("{ %s, '%s', %d }" % slot for slot in slots) or "{ 0 }"
                print(f"\t[{number}] = {{ OP_{name}, {{ {text} }} }},", file=out)
            print("};", file=out)
    print("static const struct wave_target wave_targets[] = {", file=out)
    for cpu in TARGETS:
        print(f'\t{{ "{cpu}", {{', file=out)
        for form in FORMATS:
            print(f"\t\t[{form}] = {{ {cpu}_{form}, ARRAY_SIZE({cpu}_{form}) }},", file=out)
        print("\t} },", file=out)
    print("\t{ 0 },\n};", file=out)


def main():
    library, directory = load(sys.argv[1]), sys.argv[2]
    names = set()
    with open(f"{directory}/tables.h", "w", encoding="ascii") as out:
        print_tables(library, names, out)
    with open(f"{directory}/ops.h", "w", encoding="ascii") as out:
        print("#define WAVE_OPS(X)", *(f"X({name})" for name in sorted(names)), sep=" \\\n\t",
              file=out)


if __name__ == "__main__":
    main()
