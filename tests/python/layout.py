# SPDX-License-Identifier: GPL-2.0-only
"""Print a C program that compiles only if the package's structures, numbers and
functions are those of the library's headers."""
import ctypes
import inspect

from gpreempt import _abi

ENUMS = {
    "HOLD_NO_LEASE": "GPREEMPT_HOLD_NO_LEASE",
    "REASON_ENDED": "GPREEMPT_ENDED",
    "REASON_EXECED": "GPREEMPT_EXECED",
    "UNKNOWN": "GPREEMPT_UNKNOWN",
}


def structures():
    for cls in vars(_abi).values():
        if inspect.isclass(cls) and issubclass(cls, ctypes.Structure):
            yield cls


def print_structure(cls):
    name = cls.__doc__
    print(f'_Static_assert(sizeof({name}) == {ctypes.sizeof(cls)}, "{name}");')
    for field, kind, *_ in cls._fields_:
        place = getattr(cls, field)
        print(f"_Static_assert(offsetof({name}, {field}) == {place.offset} &&\n"
              f"\tsizeof((({name} *)0)->{field}) == {ctypes.sizeof(kind)},\n"
              f'\t"{name}.{field}");')


def print_call(name, arguments):
    """A call with so many arguments: a pointer where the package passes one."""
    values = ["0"] * len(arguments)
    print(f"void call_{name}(void);\nvoid call_{name}(void)\n"
          f"{{\n\t(void){name}({', '.join(values)});\n}}")


print("#include <stddef.h>\n#include <gpreempt/gpreempt.h>")
print("#include <gpreempt/online.h>")
for structure in structures():
    print_structure(structure)
for ours, theirs in ENUMS.items():
    number = getattr(_abi, ours)
    unsigned = "ULL" if number > 0x7fffffff else ""
    print(f'_Static_assert({theirs} == {number}{unsigned}, "{theirs}");')
for ours in (name for name in vars(_abi) if name.startswith("EVENT_")):
    print(f'_Static_assert(GPREEMPT_{ours} == {getattr(_abi, ours)}, "{ours}");')
for function, (_, kinds) in _abi._FUNCTIONS.items():
    print_call(function, kinds)
