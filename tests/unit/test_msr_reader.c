/* SPDX-License-Identifier: BSD-2-Clause */
/* energy/msr_reader.c: devices, for which stand files where the offset is the register. energy/msr_models.c. */
#include "tree.h"

#include "../../src/energy/msr_models.h"
#include "../../src/energy/msr_reader.h"

#include <errno.h>

static const struct sw_topology one = { .n_cpus = 4, .n_domains = 1, .n_packages = 1, .die_of = { -1 } };

static void write_register(const struct tree *t, const char *path, uint32_t reg, uint64_t v)
{
	int fd;

	tree_dirs_(t, path);
	fd = openat(t->fd, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &v, sizeof(v), (off_t)reg), sizeof(v));
	close(fd);
}

static void place(const struct tree *t, unsigned cpu, const char *siblings)
{
	char path[96];

	snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/topology/physical_package_id", cpu);
	tree_write(t, path, "0\n");
	snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/topology/core_cpus_list", cpu);
	tree_write(t, path, siblings);
}

static void devices(void **state)
{
	const struct tree *t = *state;
	const struct sw_energy_config config = { .sysfs_fd = t->fd, .dev_fd = t->fd, .topology = &one };
	struct sw_msr_reader r = { .of = { .package = 0, .die = -1, .core = -1 }, .fd = -1 };
	struct sw_msr_machine m = { .dev_fd = -1 };
	uint64_t v = 0;
	int err;

	place(t, 1, "1,3\n");
	place(t, 2, "2\n");
	place(t, 3, "1,3\n");
	assert_int_equal(sw_msr_machine_init(&m, &config, false, NULL), 0);
	assert_true(fcntl(m.dev_fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(m.place[0].package, -1);
	assert_int_equal(m.place[3].core, 1);
	assert_int_equal(sw_msr_reader_settle(&m, &r, 0x611), -ENOENT);
	assert_false(r.settled);
	assert_int_equal(r.cpu, 1);

	write_register(t, "cpu/0/msr", 0x611, 1); /* of no known package */
	write_register(t, "cpu/1/msr", 0x611, UINT64_C(0x1122334455667788));
	write_register(t, "cpu/2/msr", 0xC001029B, 42);
	write_register(t, "cpu/3/msr", 0x611, 3);
	assert_int_equal(sw_msr_reader_settle(&m, &r, 0x611), 0);
	assert_int_equal(r.cpu, 1);
	assert_true(fcntl(r.fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(sw_msr_reader_read(&m, &r, 0x611, &v), 0);
	assert_true(v == UINT64_C(0x1122334455667788));
	assert_int_equal(sw_msr_reader_read(&m, &r, 0x619, &v), -EIO); /* behind the end */
	assert_int_equal(sw_msr_reader_settle(&m, &r, 0xC001029B), 0); /* beyond 2 GiB; CPU 1 has not got it */
	assert_int_equal(r.cpu, 2);
	assert_int_equal(sw_msr_reader_read(&m, &r, 0xC001029B, &v), 0);
	assert_true(v == 42);
	assert_int_equal(sw_msr_reader_settle(&m, &r, 0xFFFFFFF0), -EIO);
	assert_int_equal(r.cpu, 2); /* it keeps what it had */
	sw_msr_reader_close(&r);

	/* By core: never CPU 2. */
	r = (struct sw_msr_reader){ .of = { .package = 0, .die = -1, .core = 1 }, .fd = -1 };
	assert_int_equal(unlinkat(t->fd, "cpu/1/msr", 0), 0);
	assert_int_equal(sw_msr_reader_settle(&m, &r, 0x611), 0);
	assert_int_equal(r.cpu, 3);
	sw_msr_reader_close(&r);
	r = (struct sw_msr_reader){ .of = { .package = 1, .die = -1, .core = -1 }, .fd = -1 };
	assert_int_equal(sw_msr_reader_settle(&m, &r, 0x611), -ENXIO);

	r = (struct sw_msr_reader){ .of = { .package = 0, .die = -1, .core = 1 }, .fd = -1 };
	assert_int_equal(fchmodat(t->fd, "cpu/3/msr", 0, 0), 0);
	assert_int_equal(unlinkat(t->fd, "cpu/2/msr", 0), 0);
	write_register(t, "cpu/1/msr", 0x611, 1);
	assert_int_equal(fchmodat(t->fd, "cpu/1/msr", 0, 0), 0);
	as_nobody();
	err = sw_msr_reader_settle(&m, &r, 0x611);
	as_root_again();
	assert_int_equal(err, -EACCES);
	sw_msr_machine_free(&m);
	assert_int_equal(m.dev_fd, -1);
}

static const struct sw_msr_model *model(int vendor, unsigned family, unsigned number)
{
	const struct sw_cpu_id id = { .vendor = vendor, .family = family, .model = number };

	return sw_msr_model_find(&id);
}

static void table(void **state)
{
	const struct sw_msr_model *m;

	(void)state;
	assert_null(model(SW_VENDOR_OTHER, 6, 0x5E));
	assert_null(model(SW_VENDOR_INTEL, 6, 0x4D)); /* Silvermont D */
	assert_null(model(SW_VENDOR_INTEL, 6, 0xAF)); /* Sierra Forest */
	assert_null(model(SW_VENDOR_INTEL, 15, 0x5E));
	assert_null(model(SW_VENDOR_AMD, 0x18, 0));
	assert_null(model(SW_VENDOR_HYGON, 0x17, 0));
	assert_non_null(model(SW_VENDOR_INTEL, 18, 1));

	m = model(SW_VENDOR_AMD, 0x1A, 0x44);
	assert_true(sw_msr_is_amd(m) && m == model(SW_VENDOR_AMD, 0x1A, 2));
	assert_int_equal(sw_msr_unit_register(m), 0xC0010299);
	assert_int_equal(m->zones, 1 << SW_MSR_PACKAGE | 1 << SW_MSR_CORE);
	assert_true(sw_msr_is_amd(model(SW_VENDOR_HYGON, 0x18, 0)));
	assert_non_null(model(SW_VENDOR_AMD, 0x17, 0x31));

	m = model(SW_VENDOR_INTEL, 6, 0x57); /* Knights Landing */
	assert_int_equal(m->zones, 1 << SW_MSR_PACKAGE | 1 << SW_MSR_DRAM);
	assert_int_equal(sw_msr_unit(m, SW_MSR_DRAM, 0xE00).shift, 16);
	assert_int_equal(sw_msr_unit(m, SW_MSR_PACKAGE, 0xE00).shift, 14);
	m = model(SW_VENDOR_INTEL, 6, 0x56); /* Broadwell D */
	assert_int_equal(sw_msr_unit(m, SW_MSR_DRAM, 0xE00).shift, 16);
	m = model(SW_VENDOR_INTEL, 6, 0xCF); /* Emerald Rapids */
	assert_int_equal(sw_msr_unit(m, SW_MSR_PSYS, 0xE00).shift, 0);
	assert_int_equal(sw_msr_unit(m, SW_MSR_DRAM, 0xE00).shift, 14);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(devices, tree_setup, tree_teardown),
		cmocka_unit_test(table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
