/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the text that people read: its numbers, its marks of what a model made, its width.
 * Relies on: nothing but the synthetic recording of cli_fixture.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/format.h"
#include "cli_fixture.h"

#define BAD "\xef\xbf\xbd"
#define PM  "\xc2\xb1"

/* No line is wider than 100 columns, and none holds a control character. */
static void check_lines(const char *text)
{
	unsigned columns = 0;

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '\n') {
			assert_in_range(columns, 0, 100);
			columns = 0;
			continue;
		}
		assert_true(c >= 0x20 && c != 0x7f);
		if ((c & 0xc0) != 0x80)
			columns++;
	}
	assert_int_equal(columns, 0); /* whole lines */
}

static void expect(struct buf *b, const char *golden)
{
	buf_add(b, "", 1);
	assert_int_equal(b->err, 0);
	check_lines(b->data);
	assert_string_equal(b->data, golden);
	buf_clear(b);
}

static void test_plain(void **state)
{
	struct buf b = { 0 };

	(void)state;
	assert_int_equal(format_plain(&b, "a\x1b[1m\x7f\xc2\x9b", 20), 7);
	buf_text(&b, "\n");
	expect(&b, "a?[1m??\n");
	assert_int_equal(format_plain(&b, "\xc3\xa9\xff" "bcdef", 4), 4);
	buf_text(&b, "\n");
	expect(&b, "\xc3\xa9" BAD "b\xe2\x80\xa6\n");
	format_left(&b, "ab", 4);
	format_right(&b, "\xc2\xb1" "1", 4);
	format_right(&b, "12345", 3); /* shown whole */
	buf_text(&b, "\n");
	expect(&b, "ab    \xc2\xb1" "1 12345\n");
	format_wrapped(&b, "one two three", 2, 8);
	expect(&b, "one two\n  three\n");
	buf_free(&b);
}

static void test_header(void **state)
{
	struct buf b = { 0 };

	(void)state;
	sink_text.header(&fixture_recording, &b);
	expect(&b,
	       " schedwatt 0.1.0 on box, Linux 6.1.0, unknown processor, 4 CPUs; from\n"
	       "   2023-11-14T22:13:20.000000001Z, a window every 200 ms; labels job=a\"b, empty=\n"
	       " back end ebpf (exact, attached by tp_btf); energy source powercap (measured); policy capacity\n"
	       " zone package-0/dram is left out: EIO\n"
	       "time (UTC)            watts          joules busy %  lost ms  flags  busiest, in % of one CPU\n");
	buf_free(&b);
}

static void test_sample(void **state)
{
	struct sw_report r = fixture_report;
	struct buf b = { 0 };

	(void)state;
	sink_text.sample(&fixture_recording, &r, &b);
	expect(&b,
	       "22:13:20.200          12.00           2.400   25.0    0.002  "
	       "late,no_energy  a\"b\\?" BAD " 75.0   0.5\n");

	/* All flags do not fit; the busiest give way. */
	r.flags = (1u << SW_FLAGS) - 1;
	sink_text.sample(&fixture_recording, &r, &b);
	expect(&b,
	       "22:13:20.200          12.00           2.400   25.0    0.002  late,short,partial,no_energy,suspend+2\n");

	/* No energy, nothing ran, and a window of no length divides by nothing. */
	r.energy = (struct sw_energy)FIXTURE_NOTHING;
	r.uncertainty_nj = SW_ABSENT;
	r.n_processes = 0;
	r.flags = 0;
	r.window_ns = r.proc_oncpu_ns = r.other_oncpu_ns = r.idle_ns = r.lost_ns = 0;
	sink_text.sample(&fixture_recording, &r, &b);
	expect(&b,
	       "22:13:20.200              -               -      -    0.000  -\n");
	buf_free(&b);
}

static void test_summary_of_run(void **state)
{
	struct buf b = { 0 };

	(void)state;
	sink_text.summary(&fixture_recording, &fixture_summary, &b);
	expect(&b,
	       "\n"
	       " schedwatt run: make -j" BAD "\n"
	       "\n"
	       "          5.000000 J " PM "0.050000         command, policy capacity\n"
	       "          2.000000 W " PM "0.020000         command, mean power\n"
	       "         10.000000 J " PM "0.100000         whole machine\n"
	       "          4.000000 W " PM "0.040000         whole machine, mean power\n"
	       "          8.000000 J                   busy share: all energy goes by CPU time\n"
	       "          5.000000 J                   capacity share: idle CPUs keep their part\n"
	       "          3.000000 s                   CPU time of the command\n"
	       "          2.500000 s                   wall time\n"
	       "                14                     processes seen, 1 still running\n"
	       "\n"
	       "            joules             CPU s  processes  command\n"
	       "          6.000000          1.500000         12  cc1\n"
	       "                 -          0.000000 18446744073709551615  m?k\xc3\xa9\n"
	       "\n"
	       " lost 0.000002 s (slots 0.000000, missed 0.000002, other 0.000001); 13 windows, flagged: late 1,\n"
	       "   no_energy 2; 1 without energy\n"
	       " back end ebpf (exact, attached by tp_btf); energy source powercap (measured); policy capacity\n"
	       " zone package-0/dram is left out: EIO\n"
	       "\n");
	buf_free(&b);
}

/* What a model made is marked, and why there is no better is said. */
static void test_modelled(void **state)
{
	struct sw_header h = fixture_header;
	struct recording rec = { .header = &h };
	struct buf b = { 0 };

	(void)state;
	h.energy_source = "model";
	h.energy_quality = "modelled";
	h.energy_refusals = fixture_refusals;
	h.n_energy_refusals = 1;
	h.n_zones = 0;
	h.policy = "busy";
	sink_text.sample(&rec, &fixture_report, &b);
	expect(&b,
	       "22:13:20.200    ~12.00" PM "0.12    ~2.400" PM "0.024   25.0    0.002  "
	       "late,no_energy  a\"b\\?" BAD " 75.0   0.5\n");
	sink_text.summary(&rec, &fixture_summary, &b);
	expect(&b,
	       "\n"
	       " schedwatt monitor: this machine\n"
	       "\n"
	       "         ~8.000000 J " PM "0.050000         processes, policy busy\n"
	       "         ~3.200000 W " PM "0.020000         processes, mean power\n"
	       "        ~10.000000 J " PM "0.100000         whole machine\n"
	       "         ~4.000000 W " PM "0.040000         whole machine, mean power\n"
	       "         ~8.000000 J                   busy share: all energy goes by CPU time\n"
	       "         ~5.000000 J                   capacity share: idle CPUs keep their part\n"
	       "          3.000000 s                   CPU time\n"
	       "          2.500000 s                   wall time\n"
	       "                14                     processes seen, 1 still running\n"
	       "\n"
	       "            joules             CPU s  processes  command\n"
	       "         ~6.000000          1.500000         12  cc1\n"
	       "                 -          0.000000 18446744073709551615  m?k\xc3\xa9\n"
	       "\n"
	       " lost 0.000002 s (slots 0.000000, missed 0.000002, other 0.000001); 13 windows, flagged: late 1,\n"
	       "   no_energy 2; 1 without energy\n"
	       " back end ebpf (exact, attached by tp_btf); energy source model (modelled); policy busy\n"
	       " ~ is a model's number, not a measured one; no powercap: /sys/class/powercap has no intel-rapl zone;\n"
	       "   this is a virtual machine\n"
	       " the total and with it every share of it is good to " PM "1.0 %\n"
	       "\n");
	buf_free(&b);
}

static void test_summary_without_energy(void **state)
{
	struct sw_header h = fixture_header;
	struct recording rec = { .header = &h };
	struct sw_summary s = { .duration_ns = 1, .samples = 1 };
	struct buf b = { 0 };

	(void)state;
	h.energy_source = "none";
	h.energy_quality = NULL;
	h.n_zones = 0;
	for (int i = 0; i < SW_POLICIES; i++)
		s.energy[i] = (struct sw_energy)FIXTURE_NOTHING;
	s.total_uncertainty_nj = s.proc_uncertainty_nj = SW_ABSENT;
	sink_text.summary(&rec, &s, &b);
	expect(&b,
	       "\n"
	       " schedwatt monitor: this machine\n"
	       "\n"
	       "          0.000000 s                   CPU time\n"
	       "          0.000000 s                   wall time\n"
	       "                 0                     processes seen, 0 still running\n"
	       "\n"
	       " lost 0.000000 s; 1 window, none flagged\n"
	       " back end ebpf (exact, attached by tp_btf); energy source none; policy capacity\n"
	       "\n");
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),          cmocka_unit_test(test_header),
		cmocka_unit_test(test_sample),         cmocka_unit_test(test_summary_of_run),
		cmocka_unit_test(test_modelled),       cmocka_unit_test(test_summary_without_energy),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
