# SPDX-License-Identifier: BSD-2-Clause
"""
schedwatt from Python: what of its interface the tests need, declared by hand as a user of another language has to, and
columns as numpy arrays that lie over the library's own memory. `python3 binding.py layout` writes a C program that
holds these declarations against schedwatt.h.
"""
import ctypes
import errno
import select
import sys
from ctypes import POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

ABSENT = -2**63
HOST, PIDS = 0, 1
TREE, PROCESS = 0, 1
BY_PROCESS, BY_THREAD = 1, 2
I64, U64, F64, TEXT = 1, 2, 3, 4
OF_PROCESS, OF_THREAD = 1, 2


class Options(ctypes.Structure):
    _fields_ = [
        ("sz", c_size_t),
        ("target", c_uint32),
        ("interval_ms", c_uint32),
        ("pids", POINTER(c_int32)),
        ("n_pids", c_size_t),
        ("scope", c_uint32),
        ("by", c_uint32),
        ("cgroup", c_char_p),
        ("no_cmdline", c_uint32),
        ("own_cgroup", c_uint32),
        ("backend", c_char_p),
        ("energy", c_char_p),
        ("policy", c_uint32),
        ("strict", c_uint32),
        ("baseline_uw", POINTER(c_uint64)),
        ("n_baseline", c_size_t),
        ("model_idle_uw", c_uint64),
        ("model_max_uw", c_uint64),
        ("slots", c_uint32),
        ("hook", c_uint32),
        ("sysfs", c_char_p),
        ("procfs", c_char_p),
        ("cgroupfs", c_char_p),
        ("error", c_void_p),
        ("error_size", c_size_t),
        ("duration_ms", c_uint64),
        ("data_bytes_max", c_uint64),
        ("process_columns", POINTER(c_char_p)),
        ("n_process_columns", c_size_t),
        ("thread_columns", POINTER(c_char_p)),
        ("n_thread_columns", c_size_t),
    ]


class DataColumn(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("type", c_uint32), ("value_bytes", c_uint32), ("values", c_void_p),
                ("present", c_void_p)]


class DataTable(ctypes.Structure):
    _fields_ = [("n_rows", c_size_t), ("n_columns", c_size_t), ("columns", POINTER(DataColumn)), ("dropped", c_uint64),
                ("denied", c_uint64)]


class Data(ctypes.Structure):
    _fields_ = [("processes", DataTable), ("threads", DataTable)]


class Column(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("unit", c_char_p), ("source", c_char_p), ("type", c_uint32), ("kinds", c_uint32),
                ("origin", c_uint32)]


class Energy(ctypes.Structure):
    _fields_ = [("total_nj", c_int64), ("proc_nj", c_int64), ("other_nj", c_int64), ("idle_nj", c_int64),
                ("unattributed_nj", c_int64)]


class Summary(ctypes.Structure):
    """Its beginning: it is the library that makes one."""
    _fields_ = [
        ("duration_ns", c_uint64),
        ("samples", c_uint64),
        ("windows_without_energy", c_uint64),
        ("windows_flagged", c_uint64 * 12),
        ("energy", Energy * 3),
        ("total_uncertainty_nj", c_int64),
        ("proc_uncertainty_nj", c_int64),
        ("proc_oncpu_ns", c_uint64),
        ("other_oncpu_ns", c_uint64),
        ("idle_ns", c_uint64),
        ("offline_ns", c_uint64),
        ("lost_ns", c_uint64),
    ]


# which of them arrays are made of, so that their size has to be right too
STRUCTS = [("sw_options", Options, False), ("sw_data_column", DataColumn, True), ("sw_data_table", DataTable, True),
           ("sw_data", Data, True), ("sw_column", Column, True), ("sw_energy", Energy, True),
           ("sw_summary", Summary, False)]
CONSTANTS = {"SW_ABSENT": ABSENT, "SW_TARGET_HOST": HOST, "SW_TARGET_PIDS": PIDS, "SW_SCOPE_TREE": TREE,
             "SW_SCOPE_PROCESS": PROCESS, "SW_BY_PROCESS": BY_PROCESS, "SW_BY_THREAD": BY_THREAD, "SW_TYPE_I64": I64,
             "SW_TYPE_U64": U64, "SW_TYPE_F64": F64, "SW_TYPE_TEXT": TEXT, "SW_COLUMN_OF_PROCESS": OF_PROCESS,
             "SW_COLUMN_OF_THREAD": OF_THREAD}

CALLBACK = ctypes.CFUNCTYPE(None, c_void_p, POINTER(Data), c_void_p)

FUNCTIONS = {
    "sw_version": (c_char_p, []),
    "sw_columns": (POINTER(Column), [POINTER(c_size_t)]),
    "sw_monitor_open": (c_int, [POINTER(Options), POINTER(c_void_p)]),
    "sw_monitor_begin": (c_int, [c_void_p]),
    "sw_monitor_fd": (c_int, [c_void_p]),
    "sw_monitor_step": (c_int, [c_void_p, POINTER(c_void_p)]),
    "sw_monitor_start": (c_int, [c_void_p]),
    "sw_monitor_join": (c_int, [c_void_p, c_int64]),
    "sw_monitor_stop": (c_int, [c_void_p, POINTER(POINTER(Summary))]),
    "sw_monitor_collect_start": (c_int, [c_void_p]),
    "sw_monitor_collect_stop": (c_int, [c_void_p]),
    "sw_monitor_get_data": (c_int, [c_void_p, POINTER(POINTER(Data))]),
    "sw_data_free": (None, [POINTER(Data)]),
    "sw_monitor_set_callback": (c_int, [c_void_p, CALLBACK, c_void_p]),
    "sw_monitor_clear_callback": (c_int, [c_void_p]),
    "sw_monitor_set_process": (c_int, [c_void_p, c_int]),
    "sw_monitor_error": (c_char_p, [c_void_p]),
    "sw_monitor_close": (None, [c_void_p]),
}


def load(path):
    library = ctypes.CDLL(path)
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


class Failed(Exception):
    """A negative errno, and the words."""

    def __init__(self, code, words):
        super().__init__(f"{errno.errorcode.get(-code, code)}: {words}")
        self.code = code


class Monitor:
    def __init__(self, library, pids, process=(), thread=(), **options):
        why = ctypes.create_string_buffer(512)
        o = Options(sz=ctypes.sizeof(Options), target=PIDS, n_pids=len(pids), error=ctypes.addressof(why),
                    error_size=len(why), n_process_columns=len(process), n_thread_columns=len(thread))
        o.pids = (c_int32 * len(pids))(*pids)
        o.process_columns = (c_char_p * len(process))(*map(str.encode, process))
        o.thread_columns = (c_char_p * len(thread))(*map(str.encode, thread))
        for name, value in options.items():
            setattr(o, name, value)
        self.library = library
        self.handle = c_void_p()
        code = library.sw_monitor_open(ctypes.byref(o), ctypes.byref(self.handle))
        if code:
            raise Failed(code, why.value.decode())

    def call(self, name, *arguments):
        code = getattr(self.library, "sw_monitor_" + name)(self.handle, *arguments)
        if code < 0:
            raise Failed(code, self.library.sw_monitor_error(self.handle).decode())
        return code

    def wait(self, seconds=20):
        """Until there is something to do for step()."""
        if not select.select([self.library.sw_monitor_fd(self.handle)], [], [], seconds)[0]:
            raise TimeoutError("no window came")

    def step(self):
        """True: it was a window."""
        return self.call("step", ctypes.byref(c_void_p())) == 1

    def get_data(self):
        data = POINTER(Data)()
        self.call("get_data", ctypes.byref(data))
        return Rows(self.library, data)

    def stop(self):
        summary = POINTER(Summary)()
        self.call("stop", ctypes.byref(summary))
        return summary.contents

    def close(self):
        self.library.sw_monitor_close(self.handle)
        self.handle = c_void_p()


def view(column, n):
    """A numpy array over a column's values, and one over what is present: nothing is copied."""
    import numpy
    if not n:
        return numpy.empty(0), numpy.empty(0, dtype=bool)
    present = numpy.ctypeslib.as_array(ctypes.cast(column.present, POINTER(ctypes.c_uint8)), (n,)).view(bool)
    if column.type == TEXT:
        memory = (ctypes.c_char * (n * column.value_bytes)).from_address(column.values)
        return numpy.frombuffer(memory, dtype=f"S{column.value_bytes}"), present
    kind = {I64: c_int64, U64: c_uint64, F64: c_double}[column.type]
    return numpy.ctypeslib.as_array(ctypes.cast(column.values, POINTER(kind)), (n,)), present


class Table:
    def __init__(self, table):
        self.n = table.n_rows
        self.dropped, self.denied = table.dropped, table.denied
        self.names = [table.columns[i].name.decode() for i in range(table.n_columns)]
        self.columns = {name: table.columns[i] for i, name in enumerate(self.names)}
        self.views = {name: view(column, self.n) for name, column in self.columns.items()}

    def __getitem__(self, name):
        return self.views[name][0]

    def present(self, name):
        return self.views[name][1]

    def value(self, row, name):
        """What a cell holds, None where it is absent."""
        if not self.present(name)[row]:
            return None
        value = self[name][row]
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else value.item()


class Rows:
    """Both tables; the memory is the library's until free()."""

    def __init__(self, library, data):
        self.library, self.data = library, data
        self.processes, self.threads = Table(data.contents.processes), Table(data.contents.threads)

    def free(self):
        """No view may be used after it."""
        self.library.sw_data_free(self.data)
        self.data = self.processes = self.threads = None


def all_columns(library):
    n = c_size_t()
    table = library.sw_columns(ctypes.byref(n))
    return [table[i] for i in range(n.value)]


LAYOUT_HEAD = """#include <schedwatt.h>
#include <stdio.h>
static int wrong;
static void place(const char *what, size_t offset, size_t size, size_t offset_here, size_t size_here)
{
	if (offset == offset_here && size == size_here)
		return;
	printf("%s: %zu bytes at %zu in schedwatt.h, %zu bytes at %zu in binding.py\\n", what, size, offset, size_here,
	       offset_here);
	wrong = 1;
}
static void value(const char *what, long long in_header, long long here)
{
	if (in_header == here)
		return;
	printf("%s: %lld in schedwatt.h, %lld in binding.py\\n", what, in_header, here);
	wrong = 1;
}
int main(void)
{
"""


def write_layout(out):
    out.write(LAYOUT_HEAD)
    for name, declared, whole in STRUCTS:
        for field, _ in declared._fields_:
            here = getattr(declared, field)
            out.write(f'\tplace("struct {name}.{field}", offsetof(struct {name}, {field}), '
                      f'sizeof(((struct {name} *)0)->{field}), {here.offset}, {here.size});\n')
        if whole:
            out.write(f'\tplace("struct {name}", 0, sizeof(struct {name}), 0, {ctypes.sizeof(declared)});\n')
    for name, number in CONSTANTS.items():
        here = f"{number + 1}LL - 1" if number < 0 else f"{number}LL"  # the least there is cannot be written
        out.write(f'\tvalue("{name}", {name}, {here});\n')
    out.write("\treturn wrong;\n}\n")


if __name__ == "__main__" and sys.argv[1:] == ["layout"]:
    write_layout(sys.stdout)
