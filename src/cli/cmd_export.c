/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: `schedwatt export`: the order in which sockets, counters and pages come to life, and the loop that lasts.
 * Must not know: what is on a page, how a connection is served.
 *
 *   sockets ─► monitor ─► fewer privileges ─► threads that serve ─► filter of system calls ─► windows, until a signal
 *
 * A monitor that fails is opened anew, less and less often; BPF takes privileges that are gone by then, so another back
 * end accounts until the service is started again. Totals go on where they stood.
 */
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/cgroupfs.h"
#include "export_health.h"
#include "exposition.h"
#include "groups.h"
#include "http.h"
#include "message.h"
#include "notify.h"
#include "options.h"
#include "privileges.h"

#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

/* Between two tries to open a monitor anew. */
#define RETRY_FIRST_NS NS_PER_S
#define RETRY_LAST_NS  (64 * NS_PER_S)

enum {
	LATE_WINDOWS = 5, /* no window for so many of its lengths: what is served is not current */
	COST_WINDOWS = 10, /* so long the kernel measures what a switch costs */
};

struct exporter {
	const struct options *options;
	struct http *http;
	struct notify notify;
	int signal_fd;
	int procfs_fd;
	struct sw_cgroupfs cgroupfs;
	struct export_health health;
	uint64_t retry_ns;      /* when to open a monitor anew */
	uint64_t retry_pause_ns;
	uint64_t notified_ns;   /* when the watchdog last heard of us */
	unsigned measuring;     /* windows for which the kernel is still to keep what a switch costs */

	/* What pages are made of: under the lock. */
	pthread_mutex_t lock;
	struct groups *groups;
	struct sw_monitor *monitor; /* NULL: it failed */
	int64_t slots_used;
	uint64_t window_ns; /* when the last window came, on our own clock */
	uint64_t retries;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* --- pages, in the server's threads */

static int write_metrics(void *ctx, bool openmetrics, struct buf *out)
{
	struct exporter *e = ctx;
	struct exposition page = { .version = sw_version() };
	const struct sw_header *h;

	pthread_mutex_lock(&e->lock);
	h = e->monitor ? sw_monitor_header(e->monitor) : NULL;
	page.groups = e->groups;
	page.header = h;
	page.health = (struct exposition_health){
		.accounting = h,
		.energy = h && e->groups->last_has_energy,
		.monitor_retries = e->retries,
		.slots_used = h ? e->slots_used : SW_ABSENT,
		.slots_free = h && e->slots_used != SW_ABSENT ? (int64_t)h->slots - e->slots_used : SW_ABSENT,
	};
	export_health_fill(&e->health, e->monitor, &page.health);
	exposition_write(out, openmetrics ? METRICS_OPENMETRICS : METRICS_TEXT, &page);
	pthread_mutex_unlock(&e->lock);
	return out->err;
}

static bool say_health(void *ctx, struct buf *out)
{
	struct exporter *e = ctx;
	uint64_t late_ns = LATE_WINDOWS * e->options->interval_ms * NS_PER_MS + NS_PER_S, now = now_ns();
	bool healthy = false, energy;

	pthread_mutex_lock(&e->lock);
	if (!e->monitor)
		buf_text(out, "nothing is being accounted; see the service's messages");
	else if (now - e->window_ns > late_ns)
		buf_printf(out, "no window for %llu s", (unsigned long long)((now - e->window_ns) / NS_PER_S));
	else
		healthy = true;
	/* before the first window nobody can tell; and where none was asked for, none is missing */
	energy = e->groups->last_has_energy || !e->groups->windows ||
		 !(e->monitor && sw_monitor_header(e->monitor)->energy_quality);
	if (healthy)
		buf_text(out, energy ? "ok" : "ok, but without energy");
	pthread_mutex_unlock(&e->lock);
	return healthy;
}

/* Whether a group that has not run for long is there still. Called by the ledger, so under the lock. */
static bool is_there(void *ctx, const struct group *g)
{
	const struct exporter *e = ctx;
	char path[16];

	if (g->pid) {
		snprintf(path, sizeof(path), "%d", g->pid);
		return e->procfs_fd >= 0 && !faccessat(e->procfs_fd, path, F_OK, 0);
	}
	if (!g->cgroup || e->cgroupfs.fd < 0)
		return false;
	return !g->cgroup[1] || !faccessat(e->cgroupfs.fd, g->cgroup + 1, F_OK, 0);
}

/* --- the monitor */

static int open_monitor(struct exporter *e, struct sw_monitor **ret)
{
	struct sw_options lib;
	char error[1024] = "";
	int err;

	options_to_library(e->options, &lib);
	lib.target = SW_TARGET_HOST;
	lib.by = groups_rows(e->options->export.by);
	lib.no_cmdline = 1;
	lib.forget_ended = 1;
	lib.error = error;
	lib.error_size = sizeof(error);
	err = sw_monitor_open(&lib, ret);
	if (err && lib.by == SW_BY_CGROUP && strcmp(e->options->backend, "ebpf")) {
		/* what is not BPF tells processes apart, and /proc in which cgroup each of them is */
		lib.by = SW_BY_PROCESS;
		err = sw_monitor_open(&lib, ret);
	}
	if (err)
		message_error("%s", error[0] ? error : strerror(-err));
	return err;
}

static void tell_backend(const struct sw_header *h)
{
	struct buf words = { 0 };

	if (!h->n_backend_refusals)
		return;
	buf_printf(&words, "CPU time comes from %s (%s): %s", h->backend, h->backend_quality,
		   h->backend_refusals[0].reason);
	message_note(&words);
}

static int begin(struct exporter *e, bool again)
{
	struct sw_monitor *m = NULL;
	int err = open_monitor(e, &m);

	if (err)
		return err;
	if (!again) {
		e->measuring = COST_WINDOWS;
		sw_monitor_keep_cost(m, 1); /* where that fails, the cost is not known */
	}
	err = sw_monitor_begin(m);
	if (err) {
		message_error("cannot begin: %s", sw_monitor_error(m));
		sw_monitor_close(m);
		return err;
	}
	tell_backend(sw_monitor_header(m));
	pthread_mutex_lock(&e->lock);
	e->monitor = m;
	e->window_ns = now_ns();
	e->health.cpus = sw_monitor_header(m)->cpus;
	groups_new_monitor(e->groups);
	pthread_mutex_unlock(&e->lock);
	return 0;
}

/* It can tell no more windows: what has been counted stays, and what is to come another has to tell. */
static void lose_monitor(struct exporter *e, const char *why)
{
	struct sw_monitor *m = e->monitor;

	message_error("accounting has failed and is begun anew: %s", why);
	pthread_mutex_lock(&e->lock);
	e->monitor = NULL;
	pthread_mutex_unlock(&e->lock);
	sw_monitor_close(m);
	e->retry_pause_ns = RETRY_FIRST_NS;
	e->retry_ns = now_ns() + e->retry_pause_ns;
}

static void retry(struct exporter *e)
{
	pthread_mutex_lock(&e->lock);
	e->retries++;
	pthread_mutex_unlock(&e->lock);
	if (!begin(e, true))
		return;
	e->retry_pause_ns = e->retry_pause_ns < RETRY_LAST_NS ? 2 * e->retry_pause_ns : RETRY_LAST_NS;
	e->retry_ns = now_ns() + e->retry_pause_ns;
}

static void step(struct exporter *e)
{
	const struct sw_report *report = NULL;
	int r = sw_monitor_step(e->monitor, &report);

	if (r < 0) {
		lose_monitor(e, sw_monitor_error(e->monitor));
		return;
	}
	if (!r)
		return;
	pthread_mutex_lock(&e->lock);
	r = groups_add(e->groups, sw_monitor_header(e->monitor), report);
	e->slots_used = report->slots_used;
	e->window_ns = now_ns();
	pthread_mutex_unlock(&e->lock);
	if (r)
		message_error("a window of %.3f s is not counted: %s", (double)report->window_ns / 1e9,
			      r == -EPROTO ? "its parts are more than its whole" : strerror(-r));
	if (e->measuring && !--e->measuring)
		sw_monitor_keep_cost(e->monitor, 0);
}

/* --- the loop */

/* Milliseconds until something is due that no descriptor tells: a try to begin anew, a word to the watchdog. */
static int timeout_ms(const struct exporter *e)
{
	uint64_t now = now_ns(), due = UINT64_MAX, watchdog = e->notified_ns + e->notify.watchdog_ns / 2;

	if (!e->monitor)
		due = e->retry_ns;
	if (e->notify.watchdog_ns && watchdog < due)
		due = watchdog;
	if (due == UINT64_MAX)
		return -1;
	return due <= now ? 0 : (int)((due - now) / NS_PER_MS + 1);
}

/* While windows come; when they do not, the service manager shall start us again, with the privileges of a start. */
static void tell_watchdog(struct exporter *e)
{
	uint64_t now = now_ns();
	struct buf words = { 0 };

	if (!e->notify.watchdog_ns || now - e->notified_ns < e->notify.watchdog_ns / 2)
		return;
	e->notified_ns = now;
	if (!e->monitor || say_health(e, &words))
		notify_send(&e->notify, "WATCHDOG=1");
	buf_free(&words);
}

static void reload(struct exporter *e)
{
	struct web_config web = { 0 };
	struct buf words = { 0 };

	if (!e->options->export.web_config)
		return;
	if (web_config_read(e->options->export.web_config, &web)) {
		buf_text(&words, "the users of before stay");
	} else {
		http_set_users(e->http, &web);
		buf_printf(&words, "the users of '%s' are in force", e->options->export.web_config);
	}
	message_note(&words);
}

/* False: it is to end. */
static bool take_signals(struct exporter *e)
{
	struct signalfd_siginfo info;

	while (read(e->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGHUP)
			return false;
		reload(e);
	}
	return true;
}

static int serve(struct exporter *e)
{
	struct pollfd fds[2] = { { .events = POLLIN }, { .fd = e->signal_fd, .events = POLLIN } };

	for (;;) {
		fds[0].fd = e->monitor ? sw_monitor_fd(e->monitor) : -1;
		if (poll(fds, 2, timeout_ms(e)) < 0) {
			if (errno == EINTR)
				continue;
			message_error("cannot wait for the next window: %s", strerror(errno));
			return EXIT_FAILED;
		}
		if (fds[1].revents && !take_signals(e))
			return EXIT_DONE;
		if (e->monitor && fds[0].revents)
			step(e);
		else if (!e->monitor && now_ns() >= e->retry_ns)
			retry(e);
		tell_watchdog(e);
	}
}

/* --- the start */

static int check(void *ctx, struct buf *why)
{
	const struct exporter *e = ctx;
	int err = sw_monitor_check(e->monitor);

	if (err)
		buf_text(why, sw_monitor_error(e->monitor));
	return err;
}

/* All that lasts is open: privileges go, threads come, and the filter is for all of them. */
static int settle(struct exporter *e, struct web_config *web)
{
	const struct http_source source = { .metrics = write_metrics, .healthy = say_health, .ctx = e };
	struct buf words = { 0 }, kept = { 0 };
	int err = privileges_reduce(check, e, &kept);

	if (!err)
		err = http_start(e->http, &source, web);
	if (!err)
		err = privileges_confine();
	if (!err) {
		buf_text(&words, "serving at ");
		http_addresses(e->http, &words);
		buf_printf(&words, "%s; capabilities kept: ", e->options->export.path);
		buf_add(&words, kept.data, kept.len);
		message_note(&words);
	}
	buf_free(&kept);
	return err;
}

/* SIGPIPE is a failed write; the others make a signalfd readable. */
static int take_over_signals(void)
{
	sigset_t set;
	int fd = -1;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (!sigprocmask(SIG_BLOCK, &set, NULL))
		fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		message_error("cannot wait for signals: %s", strerror(errno));
	return fd;
}

static int open_roots(struct exporter *e)
{
	const struct options *o = e->options;

	e->procfs_fd = open(o->procfs ? o->procfs : "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (e->procfs_fd < 0) {
		message_error("cannot open the directory '%s': %s", o->procfs ? o->procfs : "/proc", strerror(errno));
		return -errno;
	}
	sw_cgroupfs_open(&e->cgroupfs, e->procfs_fd, o->cgroupfs, NULL); /* where there is none, groups have no path */
	export_health_open(&e->health, o->procfs);
	return 0;
}

static int export(struct exporter *e)
{
	static const char *const here[] = { HTTP_LISTEN_DEFAULT };
	const struct export_options *o = &e->options->export;
	const struct groups_options groups = {
		.by = o->by,
		.max_series = o->max_series,
		.stay_ns = o->keep_ns,
		.is_there = is_there,
		.ctx = e,
	};
	struct web_config web = { 0 };
	int status = EXIT_FAILED;

	if (o->web_config && web_config_read(o->web_config, &web))
		return status;
	e->signal_fd = take_over_signals();
	if (e->signal_fd < 0 || http_listen(o->n_listen ? o->listen : here, o->n_listen ? o->n_listen : 1, o->path, &e->http) ||
	    open_roots(e))
		goto out;
	if (groups_open(&groups, &e->groups)) {
		message_error("out of memory for groups");
		goto out;
	}
	notify_open(&e->notify);
	if (begin(e, false) || settle(e, &web))
		goto out;
	notify_send(&e->notify, "READY=1");
	status = serve(e);
	notify_send(&e->notify, "STOPPING=1");
out:
	web_config_free(&web);
	return status;
}

static void close_all(struct exporter *e)
{
	http_close(e->http); /* its threads look at the rest */
	sw_monitor_close(e->monitor);
	groups_close(e->groups);
	export_health_close(&e->health);
	sw_cgroupfs_close(&e->cgroupfs);
	notify_close(&e->notify);
	if (e->procfs_fd >= 0)
		close(e->procfs_fd);
	if (e->signal_fd >= 0)
		close(e->signal_fd);
	pthread_mutex_destroy(&e->lock);
}

int cmd_export(int argc, char **argv)
{
	struct options o;
	struct exporter e = {
		.options = &o,
		.notify.fd = -1,
		.signal_fd = -1,
		.procfs_fd = -1,
		.cgroupfs.fd = -1,
		.health = { .procfs_fd = -1, .self_fd = -1 },
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.slots_used = SW_ABSENT,
	};
	int status;

	if (!options_parse(&o, COMMAND_EXPORT, argc, argv, &status)) {
		status = export(&e);
		close_all(&e);
	}
	options_free(&o);
	return status;
}
