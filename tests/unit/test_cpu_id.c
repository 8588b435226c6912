/* SPDX-License-Identifier: BSD-2-Clause */
/* energy/cpu_id.c: what /proc/cpuinfo says of the first CPU, on machines that say it and on such as do not. */
#include "tree.h"

#include "../../src/energy/source.h"

static void assert_id(const struct tree *t, int vendor, unsigned family, unsigned model, bool guest)
{
	struct sw_cpu_id id = sw_cpu_identify(t->fd);

	assert_int_equal(id.vendor, vendor);
	assert_int_equal(id.family, family);
	assert_int_equal(id.model, model);
	assert_int_equal(id.guest, guest);
}

static void bare_metal(void **state)
{
	const struct tree *t = *state;

	tree_write(t, "cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
		   "model name\t: Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz\nstepping\t: 7\nphysical id\t: 0\n"
		   "flags\t\t: fpu vme de pse tsc msr\nvmx flags\t: vnmi preemption_timer\nbugs\t\t: spectre_v1\n\n"
		   "processor\t: 1\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\n"
		   "flags\t\t: fpu hypervisor\n\n");
	assert_id(t, SW_VENDOR_INTEL, 6, 85, false); /* the first, and nothing of the second */
	tree_write(t, "cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\n"
		   "model name\t: AMD EPYC 9755 128-Core Processor\nflags\t\t: fpu vme rapl\n\n");
	assert_id(t, SW_VENDOR_AMD, 26, 2, false);
	tree_write(t, "cpuinfo", "processor\t: 0\nvendor_id\t: HygonGenuine\ncpu family\t: 24\nmodel\t\t: 1\n"
		   "model name\t: Hygon C86 7185 32-core Processor\nflags\t\t: fpu\n"); /* the file ends there */
	assert_id(t, SW_VENDOR_HYGON, 24, 1, false);
	tree_write(t, "cpuinfo", "processor\t: 0\nvendor_id\t: CentaurHauls\ncpu family\t: 6\nmodel\t\t: 15\n\n");
	assert_id(t, SW_VENDOR_OTHER, 6, 15, false);
}

/* They are told as the kernel writes them, and not at all where they are too long to be kept whole. */
static void names(void **state)
{
	const struct tree *t = *state;
	struct sw_cpu_id id;
	char text[400];

	tree_write(t, "cpuinfo", "vendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R) CPU: 2.50GHz\n"
		   "microcode\t: 0x5003604\ncpu MHz\t\t: 2500.000\n\n");
	id = sw_cpu_identify(t->fd);
	assert_string_equal(id.model_name, "Intel(R) Xeon(R) CPU: 2.50GHz");
	assert_string_equal(id.microcode, "0x5003604");
	tree_write(t, "cpuinfo", "processor\t: 0\nmodel name\t: \nmicrocodes\t: 0x1\n\n"
		   "processor\t: 1\nmodel name\t: other\nmicrocode\t: 0x2\n\n");
	id = sw_cpu_identify(t->fd);
	assert_string_equal(id.model_name, "");
	assert_string_equal(id.microcode, "");
	for (size_t n = sizeof(id.model_name) - 1; n <= sizeof(id.model_name); n++) {
		snprintf(text, sizeof(text), "model name\t: %0*d\nmicrocode\t: %0*d\n", (int)n, 7,
			 (int)(n - sizeof(id.model_name) + sizeof(id.microcode)), 7);
		tree_write(t, "cpuinfo", text);
		id = sw_cpu_identify(t->fd);
		assert_int_equal(strlen(id.model_name), n < sizeof(id.model_name) ? n : 0);
		assert_int_equal(strlen(id.microcode), n < sizeof(id.model_name) ? sizeof(id.microcode) - 1 : 0);
	}
}

static void guests(void **state)
{
	const struct tree *t = *state;

	tree_write(t, "cpuinfo", "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
		   "flags\t\t: fpu ht hypervisor lahf_lm\n\n");
	assert_id(t, SW_VENDOR_AMD, 25, 17, true);
	tree_write(t, "cpuinfo", "vendor_id\t: GenuineIntel\nflags\t\t: hypervisor\n\n");
	assert_id(t, SW_VENDOR_INTEL, 0, 0, true);
	tree_write(t, "cpuinfo", "vendor_id\t: GenuineIntel\nflags\t\t: fpu hypervisor\n");
	assert_id(t, SW_VENDOR_INTEL, 0, 0, true);
	/* Words that only hold it, and a line that is another one. */
	tree_write(t, "cpuinfo", "vendor_id\t: GenuineIntel\nflags\t\t: xhypervisor hypervisors no_hypervisor\n"
		   "vmx flags\t: hypervisor\nmodel name\t: hypervisor\n\n");
	assert_id(t, SW_VENDOR_INTEL, 0, 0, false);
}

/* arm64 and others: no such lines, or such as only begin alike. */
static void elsewhere(void **state)
{
	const struct tree *t = *state;

	assert_id(t, SW_VENDOR_OTHER, 0, 0, false); /* no file */
	tree_write(t, "cpuinfo", "");
	assert_id(t, SW_VENDOR_OTHER, 0, 0, false);
	tree_write(t, "cpuinfo", "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd hypervisor\n"
		   "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n\n");
	assert_id(t, SW_VENDOR_OTHER, 0, 0, false);
	tree_write(t, "cpuinfo", "vendor_id       : IBM/S390\n# processors    : 4\nmodel number: 7\nmodels: 8\n\n");
	assert_id(t, SW_VENDOR_OTHER, 0, 0, false);
}

/* Numbers that are none stay 0: no row of any table has that. */
static void bad_numbers(void **state)
{
	const struct tree *t = *state;

	tree_write(t, "cpuinfo", "vendor_id\t: GenuineIntel\ncpu family\t: 0x6\nmodel\t\t: 4294967296\n\n");
	assert_id(t, SW_VENDOR_INTEL, 0, 0, false);
	tree_write(t, "cpuinfo", "vendor_id\t: GenuineIntel \ncpu family\t:\nmodel\t\t: 85 \n\n");
	assert_id(t, SW_VENDOR_OTHER, 0, 0, false);
	tree_write(t, "cpuinfo", "vendor_id\ncpu family\nmodel\nflags\n\n");
	assert_id(t, SW_VENDOR_OTHER, 0, 0, false);
}

/* Only the start of the file is read: what stands in it counts, whatever was cut off. */
static void longer_than_the_buffer(void **state)
{
	static const char start[] = "vendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\nflags\t\t: fpu";
	const struct tree *t = *state;
	const size_t n = 40000;
	char *text = malloc(n + 1);

	assert_non_null(text);
	memset(text, 'x', n);
	memcpy(text, start, sizeof(start) - 1);
	memcpy(text + sizeof(start) - 1, " hypervisor ", 12);
	text[n] = '\0';
	tree_write(t, "cpuinfo", text);
	assert_id(t, SW_VENDOR_AMD, 26, 2, true);

	/* One flag of 39 KB, and the word behind it. */
	memset(text + sizeof(start) - 1, 'x', 12);
	memcpy(text + n - 12, " hypervisor\n", 12);
	tree_write(t, "cpuinfo", text);
	assert_id(t, SW_VENDOR_AMD, 26, 2, false);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(bare_metal, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(names, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(guests, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(elsewhere, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(bad_numbers, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(longer_than_the_buffer, tree_setup, tree_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
