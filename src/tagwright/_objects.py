"""What kernels ask of Python's own objects: the items of lists, the letters of strings.

    size           of a list
    item           of a list
    replace        an item of a list by another object
    replace_list   an item of a list by a new list
    length         of a string
    copy_points    the code points of a string into an array
    fetch_object   asks for an object that will be read soon: no result, only speed

An object is its address, which is what `id` gives; what is missing or of another kind is NOTHING, without an exception.
Python's own words cost a loop over tokens 10 to 20 ns each; these cost 2 to 5. They are calls of functions of CPython's
stable interface by their names, and assume nothing of where an object keeps what.

Such a kernel is a `@python_kernel` (_jit.py), which keeps the GIL, and whoever calls it keeps the objects.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagwright.compat import llvm, llvm_blocks, numba

NOTHING = -1


def size(of: int) -> int:
    """How many items a list has."""
    found = _object(of)
    return len(found) if isinstance(found, list) else NOTHING


def item(of: int, k: int) -> int:
    """Item k of a list, counted from 0."""
    found = _object(of)
    return id(found[k]) if isinstance(found, list) and 0 <= k < len(found) else NOTHING


def replace(of: int, k: int, by: int) -> None:
    """Put an object in the place of item k of a list."""
    _object(of)[k] = _object(by)


def replace_list(of: int, k: int, n: int) -> int:
    """Put a new list in the place of item k of a list; all its n items must be replaced before anyone looks at them."""
    new = [None] * n
    _object(of)[k] = new
    return id(new)


def length(of: int) -> int:
    """How many code points a string has."""
    found = _object(of)
    return len(found) if isinstance(found, str) else NOTHING


def copy_points(of: int, points: NDArray[np.uint32], place: int) -> None:
    """The code points of a string from points[place] on, where there is room for them."""
    found = _object(of).encode("utf-32-le", "surrogatepass")
    points[place : place + len(found) // 4] = np.frombuffer(found, np.uint32)


def fetch_object(of: int) -> None:
    """Nothing that a program could see."""


def _object(address: int) -> Any:
    return ctypes.cast(int(address), ctypes.py_object).value


if numba is not None and llvm is not None and llvm_blocks is not None:
    ir, blocks, types = llvm, llvm_blocks, numba.types
    LONG, INT, OBJECT = ir.IntType(64), ir.IntType(32), ir.IntType(8).as_pointer()

    def _call(builder: Any, name: str, result: Any, *args: Any) -> Any:
        """What a function of Python gives."""
        kind = ir.FunctionType(result, [argument.type for argument in args])
        return builder.call(blocks.get_or_insert_function(builder.module, kind, name), args)

    def _checked(builder: Any, found: Any) -> Any:
        """What was found. Where that is 0 or −1, Python may have an exception ready."""
        failed = builder.icmp_signed("<=", found, ir.Constant(LONG, 0))
        with builder.if_then(failed, likely=False):
            _call(builder, "PyErr_Clear", ir.VoidType())
        return found

    def _emit_size(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _checked(builder, _call(builder, "PyList_Size", LONG, builder.inttoptr(args[0], OBJECT)))

    def _emit_length(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _checked(builder, _call(builder, "PyUnicode_GetLength", LONG, builder.inttoptr(args[0], OBJECT)))

    def _emit_item(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        found = _call(builder, "PyList_GetItem", OBJECT, builder.inttoptr(args[0], OBJECT), args[1])
        found = _checked(builder, builder.ptrtoint(found, LONG))
        missing = builder.icmp_signed("==", found, ir.Constant(LONG, 0))
        return builder.select(missing, ir.Constant(LONG, NOTHING), found)

    def _emit_replace(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """The list takes a reference to its new item, and gives up the one to its old."""
        of, by = builder.inttoptr(args[0], OBJECT), builder.inttoptr(args[2], OBJECT)
        _call(builder, "Py_IncRef", ir.VoidType(), by)
        _call(builder, "PyList_SetItem", INT, of, args[1], by)
        return context.get_dummy_value()

    def _emit_replace_list(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """The list takes over the only reference to the new one."""
        new = _call(builder, "PyList_New", OBJECT, args[2])
        address = _checked(builder, builder.ptrtoint(new, LONG))
        missing = builder.icmp_signed("==", address, ir.Constant(LONG, 0))
        with builder.if_then(builder.not_(missing), likely=True):
            _call(builder, "PyList_SetItem", INT, builder.inttoptr(args[0], OBJECT), args[1], new)
        return builder.select(missing, ir.Constant(LONG, NOTHING), address)

    def _emit_copy(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        points = context.make_array(signature.args[1])(context, builder, args[1])
        room = builder.sub(builder.extract_value(points.shape, 0), args[2])
        out = builder.bitcast(builder.gep(points.data, [args[2]]), OBJECT)
        no_null = ir.Constant(INT, 0)
        _call(builder, "PyUnicode_AsUCS4", OBJECT, builder.inttoptr(args[0], OBJECT), out, room, no_null)
        return context.get_dummy_value()

    def _emit_fetch(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """A short string and what stands before it lie in two cache lines."""
        for line in (0, 64):
            place = builder.inttoptr(builder.add(args[0], ir.Constant(LONG, line)), OBJECT)
            to_read, keep, data = ir.Constant(INT, 0), ir.Constant(INT, 3), ir.Constant(INT, 1)
            _call(builder, "llvm.prefetch.p0", ir.VoidType(), place, to_read, keep, data)
        return context.get_dummy_value()

    def _size(_: Any, of: Any) -> Any:
        return types.int64(types.int64), _emit_size

    def _length(_: Any, of: Any) -> Any:
        return types.int64(types.int64), _emit_length

    def _item(_: Any, of: Any, k: Any) -> Any:
        return types.int64(types.int64, types.int64), _emit_item

    def _replace(_: Any, of: Any, k: Any, by: Any) -> Any:
        return types.void(types.int64, types.int64, types.int64), _emit_replace

    def _replace_list(_: Any, of: Any, k: Any, n: Any) -> Any:
        return types.int64(types.int64, types.int64, types.int64), _emit_replace_list

    def _copy_points(_: Any, of: Any, points: Any, place: Any) -> Any:
        return types.void(types.int64, points, types.int64), _emit_copy

    def _fetch_object(_: Any, of: Any) -> Any:
        return types.void(types.int64), _emit_fetch

    size = numba.extending.intrinsic(_size)
    item = numba.extending.intrinsic(_item)
    replace = numba.extending.intrinsic(_replace)
    replace_list = numba.extending.intrinsic(_replace_list)
    length = numba.extending.intrinsic(_length)
    copy_points = numba.extending.intrinsic(_copy_points)
    fetch_object = numba.extending.intrinsic(_fetch_object)
