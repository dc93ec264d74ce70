#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares the interpreter's decoder with LLVM's disassembler.

check_decode.py LIBLLVM DECODER.so FILE...

FILE is a code object, a library with code objects of gfx90a or gfx942 in it, or words of code
whose name begins with the target and a dash. Each instruction must have the opcode, the length,
the operands with their widths, the literal, the offset and the signs that LLVM prints, or be
refused with a reason, which is counted. Modifiers of DPP and SDWA are not compared.
"""
import collections
import ctypes
import os
import re
import struct
import sys

import gen_ops

HEAD = ("size", "format", "imm", "literal", "abs", "neg", "clamp", "omod", "op_sel", "op_sel_hi",
        "neg_hi")
SOPP, SOPK, SMEM, VOP3P, VOP3 = 2, 3, 5, 9, 10 # enum wave_format
WORD = re.compile(r"[^,\s\[]*\[[^\]]*\]\|?|[^,\s]+")
# Words of LLVM that are no operands: caches, what the interpreter refuses, DPP and SDWA.
NO_OPERAND = re.compile(r"^(glc|slc|nt|sc[01]|off|lds|offen|idxen|clamp|gds)$|^(row_|wave_|quad_perm|"
                        r"bank_|bound_|dst_|src[01]_sel|abid|cbsz|blgp|gpr_idx)")
# Scalar instructions that print SIMM16 in words of its own.
WORDS_OF_IMM = re.compile(r"^s_(waitcnt|sendmsg|set|getreg)")


def objects(data):
    """Code objects in a file: target, bytes."""
    if data[:4] == b"\x7fELF" and data[18:20] == b"\xe0\0":
        # EF_AMDGPU_MACH_AMDGCN_GFX90A and _GFX942, from LLVM's user guide.
        target = {0x3f: "gfx90a", 0x4c: "gfx942"}.get(data[48])
        if target:
            yield target, data
        return
    magic = b"__CLANG_OFFLOAD_BUNDLE__"
    at = data.find(magic)
    while at >= 0:
        pos, count = at + 32, struct.unpack_from("<Q", data, at + 24)[0]
        for _ in range(min(count, 64)):
            offset, size, length = struct.unpack_from("<QQQ", data, pos)
            yield from objects(data[at + offset:at + offset + size])
            pos += 24 + length
        at = data.find(magic, at + 1)


def code_of(data):
    """The executable sections of a code object."""
    start = struct.unpack_from("<Q", data, 40)[0]
    size, count = struct.unpack_from("<HH", data, 58)
    for k in range(count):
        _, kind, flags, _, offset, length = struct.unpack_from("<IIQQQQ", data, start + k * size)
        if kind == 1 and flags & 4:
            yield data[offset:offset + length]


def scalar_words(dis):
    """LLVM's words for scalar operands of one and of two registers, by their numbers."""
    words = {}
    for width in (1, 2):
        for n in range(255):
            text = dis.text(0xbe800000 | (width - 1) << 8 | n)
            if text and len(text[1]) == 2:
                words[n, width] = text[1][1]
    return words


def print_operand(scalars, n, width, literal):
    if n >= 256:
        file, n = "v" if n < 512 else "a", n % 256
    elif n == 255:
        return str(literal & 0xffffffff)
    elif width <= 2:
        return number(scalars.get((n, width), "?"))
    else:
        file, n = ("s", n) if n < 108 else ("ttmp", n - 108)
    return f"{file}{n}" if width == 1 else f"{file}[{n}:{n + width - 1}]"


def number(word):
    """Integers in one form."""
    try:
        return str(int(word, 0) & 0xffffffff)
    except ValueError:
        return word


class Ours:
    """An instruction as the interpreter decodes it."""

    def __init__(self, library, target, words):
        name, out = ctypes.c_char_p(), (ctypes.c_int32 * 32)()
        why = library.decode_numbers(target.encode(), (ctypes.c_uint32 * 2)(*words),
                                     ctypes.byref(name), out)
        self.why, self.name = why and why.decode(), name.value.decode()
        self.of = dict(zip(HEAD, out))
        self.slots = []
        at = len(HEAD)
        while not why and out[at + 2]:
            self.slots.append(tuple(out[at:at + 3]))
            at += 3

    def operands(self, scalars):
        """As LLVM prints them."""
        whole = self.of["format"] != VOP3P or self.is_mixed()
        absolute = self.of["neg_hi" if self.is_mixed() else "abs"]
        for field, n, width in self.slots:
            word = print_operand(scalars, n, width, self.of["literal"])
            if field >= 2 and whole:
                word = f"|{word}|" if absolute >> field - 2 & 1 else word
                word = f"-{word}" if self.of["neg"] >> field - 2 & 1 else word
            yield word

    def modifiers(self):
        """Those that LLVM prints when they are not 0."""
        of, imm, form = self.of, self.of["imm"], self.of["format"]
        if re.match(r"ds_(read|write|wrxchg)2", self.name):
            return {"offset0": imm & 255, "offset1": imm >> 8}
        if form > VOP3 or (form == SMEM and self.has_offset_register()):
            return {"offset": imm}
        if self.is_mixed():
            return {"clamp": of["clamp"], "op_sel": of["op_sel"]}
        if form == VOP3P:
            return {"op_sel": of["op_sel"], "neg_lo": of["neg"], "neg_hi": of["neg_hi"]}
        omod = ("", "mul2", "mul4", "div2")[of["omod"]]
        return {"clamp": of["clamp"], "op_sel": of["op_sel"], omod: int(omod > "")}

    def is_mixed(self):
        """Sources of 16 and 32 bits: their signs are those of VOP3, and neg_hi is abs."""
        return "_mix" in self.name

    def has_offset_register(self):
        return any(field == 3 for field, _, _ in self.slots)


def from_llvm(words, form):
    """Operands and modifiers of LLVM's words."""
    operands, modifiers = [], {}
    for word in words:
        key, _, value = word.partition(":")
        if value.startswith("["):
            bits = [int(bit) for bit in value[1:-1].split(",")]
            if form != VOP3P:
                bits[3:] = [bits.pop()] if len(bits) == 4 else [0] * (4 - len(bits)) + [bits.pop()]
            modifiers[key] = sum(bit << k for k, bit in enumerate(bits))
        elif key in ("offset", "offset0", "offset1"):
            modifiers[key] = int(value, 0)
        elif key in ("mul", "div"):
            modifiers[key + value] = 1
        elif key == "clamp":
            modifiers[key] = 1
        elif not NO_OPERAND.match(word):
            operands.append(number(re.sub(r"^(-?)sext\((.*)\)$", r"\1\2", word)))
    return operands, modifiers


def difference(ours, scalars, name, words, size):
    """None, or a word for what is not the same."""
    form = ours.of["format"]
    operands, modifiers = from_llvm(words, form)
    mine = list(ours.operands(scalars))
    if ours.name.replace("global_", "flat_") != name.replace("global_", "flat_"):
        return "opcode"
    if ours.of["size"] != size:
        return "length"
    if form in (SOPK, SOPP) and WORDS_OF_IMM.match(name):
        operands = [word for word in operands if word in mine]
    elif form in (SOPK, SOPP) or (form == SMEM and not ours.has_offset_register()):
        if len(operands) > len(mine) and int(operands.pop()) & 0xffff != ours.of["imm"] & 0xffff:
            return "immediate"
    if operands != mine:
        return "operands"
    halves = modifiers.get("op_sel_hi")
    if halves is not None and halves != ours.of["op_sel_hi"] & (1 << len(mine) - 1) - 1:
        return "op_sel_hi"
    for key, value in ours.modifiers().items():
        if modifiers.get(key, 0) != value:
            return key
    return None


def compare(library, dis, target, code, counts):
    scalars = scalar_words(dis)
    at = 0
    while at + 4 <= len(code):
        words = struct.unpack("<2I", code[at:at + 8].ljust(8, b"\0"))
        text = dis.text(*words)
        size = dis.size
        ours = Ours(library, target, words)
        if not text or not size:
            counts["LLVM has none" if ours.why else "WRONG: only ours"] += 1
            at += 4
            continue
        if ours.why:
            counts[f"refused: {ours.why}: {text[0]}"] += 1
        else:
            line = dis.out.value.decode().strip()
            wrong = difference(ours, scalars, text[0], WORD.findall(line.partition(" ")[2]), size)
            counts["WRONG" if wrong else "same"] += 1
            if wrong and counts["WRONG"] < 20:
                print(f"{wrong}: {words[0]:08x} {words[1]:08x}: LLVM: {line}, ours: {ours.name} "
                      f"{list(ours.operands(scalars))} {ours.of}")
        at += size


def main():
    llvm = gen_ops.load(sys.argv[1])
    library = ctypes.CDLL(sys.argv[2])
    library.decode_numbers.restype = ctypes.c_char_p
    dis = {cpu: gen_ops.Disassembler(llvm, cpu) for cpu in gen_ops.TARGETS}
    counts = collections.Counter()
    for path in sys.argv[3:]:
        with open(path, "rb") as file:
            data = file.read()
        target = os.path.basename(path).split("-")[0]
        if data[:4] != b"\x7fELF" and target in dis:
            compare(library, dis[target], target, data, counts)
        for cpu, item in objects(data):
            for code in code_of(item):
                compare(library, dis[cpu], cpu, code, counts)
    for what, count in sorted(counts.items()):
        print(f"    {count} {what}")
    print(f"check_decode: {counts['same']} instructions the same, {counts['WRONG']} wrong")
    return counts["WRONG"] > 0 or not counts["same"]


if __name__ == "__main__":
    sys.exit(main())
