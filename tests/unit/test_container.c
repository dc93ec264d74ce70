// SPDX-License-Identifier: GPL-2.0-only
/*
 * The containers that processes are in: their ids, and their names in files, which
 * are believed for a second.
 */
#include "lib/see/words.h"
#include "cli/message.h"
#include "unit-select.h"

#define STORAGE "/var/lib/containers/storage/"
#define PODMAN	"tests/unit/fixtures/podman-4.3.1/containers.json"

/* Any user can make a cgroup of any name in its own slice. */
static const struct {
	const char *cgroup; /* cgroup of process 4194242 */
	const char *word;
	const char *pids;
	enum gpreempt_reason reason;
} impostors[] = {
	/* Another user's cgroup has the id of a container. */
	{ "0::/user.slice/user-1000.slice/docker-" ID_A ".scope\n", "container:train", "100", 0 },
	{ "0::/user.slice/user-1000.slice/docker-" ID_A ".scope\n", "container:" ID_A, "",
	  GPREEMPT_SAME_CONTAINER },
	/* Another's, in a container of its own, as root of that. */
	{ "0::/docker/" ID_B "/docker-" ID_A ".scope\n", "container:" ID_A, "",
	  GPREEMPT_SAME_CONTAINER },
	/* A path that only root can make; it names the same container. */
	{ "0::/x/user-1000.slice/docker-" ID_A ".scope\n", "container:train", "100 4194242", 0 },
	{ "0::/user.slice/user-1000.slicex/docker-" ID_A ".scope\n", "container:train",
	  "100 4194242", 0 },
	{ "0::/user.slice/user-99999999999.slice/docker-" ID_A ".scope\n", "container:train",
	  "100 4194242", 0 },
};

TEST_EACH(impostor, ARRAY_SIZE(impostors))
{
	char text[300];
	int class;

	set_file("/proc/4194242/cgroup", impostors[_i].cgroup);
	ck_assert_str_eq(pick(impostors[_i].word), impostors[_i].pids);
	ck_assert_int_eq(err.reason, impostors[_i].reason);
	if (!err.reason)
		return;
	/* The error is another one than for the beginning of an id. */
	class = gpreempt_error_class(&err);
	ck_assert_int_eq(class, GPREEMPT_CLASS_USAGE);
	gpreempt_error_text(&err, text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, impostors[_i].word));
	ck_assert_ptr_null(strstr(text, "beginning"));
}

#define CRI "/kubepods.slice/kubepods-burstable.slice/pod1.slice/"

static const struct {
	const char *cgroup;
	const char *engine; /* NULL: no container */
	const char *id;
	const char *name;
} containers[] = {
	{ "0::/system.slice/docker-" ID_A ".scope\n", "docker", ID_A, "train" },
	{ "0::/docker/" ID_A "/x\n", "docker", ID_A, "train" },
	{ "0::/machine.slice/libpod-" ID_C ".scope/container\n", "podman", ID_C, "root-infer" },
	{ "0::/machine.slice/libpod-conmon-" ID_C ".scope\n", NULL, "", "" },
	{ "0::/libpod_parent/libpod-" ID_C "\n", "podman", ID_C, "root-infer" },
	{ "0::" CRI "cri-containerd-" ID_B ".scope\n", "kubernetes", ID_B, "" },
	{ "0::" CRI "crio-" ID_B ".scope\n", "kubernetes", ID_B, "" },
	{ "0::/system.slice/nerdctl-" ID_B ".scope\n", "containerd", ID_B, "" },
	{ "0::/default/batch\n", "containerd", "batch", "batch" },
	{ "0::/default/batch/x\n", "containerd", "batch", "batch" },
	{ "0::/default/other\n", NULL, "", "" },
	{ "0::/user.slice/batch\n", NULL, "", "" },
	{ "0::" CRI "crio-conmon-" ID_B ".scope\n", NULL, "", "" },
	{ "0::/kubepods/besteffort/pod1/" ID_B "\n", "kubernetes", ID_B, "" },
	{ "0::/lxc.payload.box/init.scope\n", "lxc", "box", "box" },
	{ "0::/a/" ID_A "\n", "container", ID_A, "train" },
	{ "0::/docker/" ID_A CRI "crio-" ID_B ".scope\n", "docker", ID_A, "train" },
	{ "0::/docker/" ID_A "0\n", NULL, "", "" },
	{ "0::/x" ID_A "\n", NULL, "", "" },
	{ "0::/\n", NULL, "", "" },
	{ "", NULL, "", "" },
	{ "nonsense\n", NULL, "", "" },
};

TEST_EACH(container, ARRAY_SIZE(containers))
{
	struct gp_container c;
	int ret;

	set_file(STORAGE "overlay-containers/"
			 "volatile-containers.json",
		 "[{\"id\":\"" ID_C "\",\"names\":[\"root-infer\"]}]");
	set_file("/run/containerd/io.containerd.runtime.v2.task/default/batch/", "config.json");
	set_file("/proc/100/cgroup", containers[_i].cgroup);
	ret = gp_container(g, 100, &c);
	if (!containers[_i].engine) {
		ck_assert_int_eq(ret, -ENOENT);
		return;
	}
	ck_assert_int_eq(ret, 0);
	ck_assert_str_eq(c.engine, containers[_i].engine);
	ck_assert_str_eq(c.id, containers[_i].id);
	ck_assert_str_eq(c.name, containers[_i].name);
}

#define TASK "/run/containerd/io.containerd.runtime.v2.task/"

/* The kubelet's, and nerdctl's, as containerd was given them. */
TEST(containerd_names)
{
	struct gp_container c;

	set_file("/proc/100/cgroup", "0::" CRI "cri-containerd-" ID_B ".scope\n");
	set_file(TASK "k8s.io/" ID_B "/config.json",
		 "{\"annotations\":{\"io.kubernetes.cri.container-name\":\"train\","
		 "\"io.kubernetes.cri.sandbox-name\":\"job-7\","
		 "\"io.kubernetes.cri.sandbox-namespace\":\"ml\"}}");
	ck_assert_int_eq(gp_container(g, 100, &c), 0);
	ck_assert_str_eq(c.name, "train");
	ck_assert_str_eq(c.pod, "job-7");
	ck_assert_str_eq(c.pod_namespace, "ml");

	set_file("/proc/100/cgroup", "0::/system.slice/nerdctl-" ID_A ".scope\n");
	set_file(TASK "default/" ID_A "/config.json",
		 "{\"annotations\":{\"nerdctl/name\":\"box\"}}");
	ck_assert_int_eq(gp_container(g, 100, &c), 0);
	ck_assert_str_eq(c.name, "box");
	ck_assert_str_eq(c.pod, "");
	/* A file that is no object has no names. */
	set_file("/proc/100/cgroup", "0::/system.slice/nerdctl-" ID_C ".scope\n");
	set_file(TASK "default/" ID_C "/config.json", "[1]");
	ck_assert_int_eq(gp_container(g, 100, &c), 0);
	ck_assert_str_eq(c.name, "");
}

/* Pods of both drivers of cgroups, and jobs; none where a user can make up paths. */
static const struct {
	const char *cgroup;
	const char *pod;
	const char *job;
} places[] = {
	{ "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-"
	  "pod0123abcd_0011_2233_4455_66778899aabb.slice/x.scope\n",
	  "0123abcd-0011-2233-4455-66778899aabb", "" },
	{ "0::/kubepods/besteffort/pod0123abcd-0011-2233-4455-66778899aabb/x\n",
	  "0123abcd-0011-2233-4455-66778899aabb", "" },
	{ "0::/kubepods/besteffort/pod1/x\n", "", "" },
	{ "0::/user.slice/user-7.slice/kubepods/"
	  "pod0123abcd-0011-2233-4455-66778899aabb\n",
	  "", "" },
	{ "0::/system.slice/node_slurmstepd.scope/job_42/step_batch/user\n", "", "42" },
	{ "4:cpu:/slurm/uid_7/job_9/step_0\n0::/\n", "", "9" },
	{ "0::/spur/job_3\n", "", "3" },
	{ "0::/spur/job_x\n", "", "" },
	{ "0::/user.slice/user-7.slice/slurm/job_5\n", "", "" },
	{ "0::/job_5\n", "", "" },
};

TEST_EACH(place, ARRAY_SIZE(places))
{
	struct gp_place place;

	set_file("/proc/100/cgroup", places[_i].cgroup);
	ck_assert_int_eq(gp_place(g, -ENOENT, 100, &place), 0);
	ck_assert_str_eq(place.pod_uid, places[_i].pod);
	ck_assert_str_eq(place.job, places[_i].job);
	ck_assert_int_eq(place.cgroup[0], '/');
}

TEST(docker_elsewhere)
{
	struct gp_container c;

	set_file("/etc/docker/daemon.json", "{\"data-root\":\"/data/docker\"}");
	set_file("/data/docker/containers/" ID_A "/config.v2.json", "{\"Name\":\"/moved\"}");
	ck_assert_int_eq(gp_container(g, 100, &c), 0);
	ck_assert_str_eq(c.name, "moved");
	ck_assert_int_eq(gp_container(g, 77, &c), -ENOENT);
}

/* Find it by name, by the name after "podman rename", and a container of --rm. */
static const struct {
	const char *word;
	const char *id;
} podman[] = {
	{ "web", "5360f50aee9bc02c0b932c915c035cf0a3f7814d3c12185e331ce6a0384aa7e1" },
	{ "renamed", "f2d9db7f486d5f28fb3d6b86e4feeceac36389de3ba857425cfbcf18edc50bcc" },
	{ "brief", "c18297ba2588" },
	{ "lone", NULL },
};

TEST_EACH(podman_wrote, ARRAY_SIZE(podman))
{
	const char *text = unit_file(PODMAN), *id = podman[_i].id, *at, *word;

	/* The file has the whole id. */
	at = id ? strstr(text, id) : text;
	ck_assert_ptr_nonnull(at);
	set_file("/proc/100/cgroup",
		 unit_text("0::/machine.slice/libpod-%.64s.scope\n", id ? at : ID_C));
	set_file(STORAGE "vfs-containers/containers.json", text);
	word = unit_text("container:%s", podman[_i].word);
	if (gpreempt_select(g, &word, 1, NULL, NULL, &found, &err)) {
		ck_assert_ptr_null(id);
		return;
	}
	ck_assert_ptr_nonnull(id);
	ck_assert_uint_eq(found->count, 1);
	ck_assert_int_eq(found->targets[0].pid, 100);
}

/* A file of an engine that is damaged has no name in it. */
TEST(damaged)
{
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"null",
		"{\"Name\":7}",
		"{\"Name\":\"\"}",
		"{\"Name\":null}",
		"\"Name\"",
		"[{}]",
		"[{\"id\":\"" ID_C "\"}]",
		"[{\"id\":\"" ID_C "\",\"names\":\"infer\"}]",
		"[{\"id\":\"" ID_C "\",\"names\":[]}]",
		"[{\"id\":\"" ID_C "\",\"names\":[[]]}]",
	};
	struct gp_container c;
	size_t i;

	set_file("/proc/300/cgroup", "0::/machine.slice/libpod-" ID_C ".scope\n");
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		set_file(DOCKER ID_A "/config.v2.json", texts[i]);
		set_file(STORAGE "overlay-containers/containers.json", texts[i]);
		ck_assert_int_eq(gp_container(g, 100, &c), 0);
		ck_assert_str_eq(c.name, "");
		ck_assert_int_eq(gp_container(g, 300, &c), 0);
		ck_assert_str_eq(c.name, "");
		unit_frozen_ns += NSEC_PER_SEC;
	}
}

/* A file may have up to 1 MiB, and no value is deep. */
TEST(large)
{
	size_t size = (1 << 20) + 1;
	struct gp_container c;
	char *text = malloc(size + 1);
	int i;

	for (i = 0; i < 3; i++) {
		memset(text, i ? ' ' : '[', size);
		text[size - (i < 2)] = '\0';
		if (i)
			memcpy(text, "{\"Name\":\"big\"}", 14);
		set_file(DOCKER ID_A "/config.v2.json", text);
		ck_assert_int_eq(gp_container(g, 100, &c), 0);
		ck_assert_str_eq(c.name, i == 1 ? "big" : "");
		unit_frozen_ns += NSEC_PER_SEC;
	}
	free(text);
}

/* A rootless container has no name: the error says how to name it. */
TEST(rootless)
{
	static const char *const words[] = { "container:infer", "comm:infer" };
	struct gp_container c;
	char text[300];
	size_t i;

	ck_assert_int_eq(gp_container(g, 300, &c), 0);
	ck_assert_str_eq(c.engine, "podman");
	ck_assert_str_eq(c.id, ID_C);
	ck_assert_str_eq(c.name, "");
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		ck_assert_str_eq(pick(words[i]), "");
		ctl_next_step(&err, text, sizeof(text));
		ck_assert_int_eq(!i, !!strstr(text, "podman inspect -f "
						    "'{{.Id}}' NAME)"));
	}
}

static const char *name(void)
{
	static struct gp_container c;

	ck_assert_int_eq(gp_container(g, 100, &c), 0);
	return c.name;
}

/* Each existing file is read once, the first one, too. */
TEST(kept)
{
	size_t n;

	ck_assert_str_eq(name(), "train");
	n = unit_count(loop.trace, "root-file ");
	ck_assert_uint_gt(n, 0);
	ck_assert_str_eq(name(), "train");
	ck_assert_uint_eq(unit_count(loop.trace, "root-file "), n);
	unit_frozen_ns += 10 * NSEC_PER_SEC;
	ck_assert_str_eq(name(), "train");
	ck_assert_uint_gt(unit_count(loop.trace, "root-file "), n);
}

/* The container has another name; then its file is empty; then there is none. */
TEST(changed)
{
	static const struct {
		const char *text, *name;
	} files[] = {
		{ "{\"Name\":\"/serve\"}", "serve" },
		{ "", "" },
		{ "{\"Name\":\"/train\"}", "train" },
		{ NULL, "" },
	};
	size_t i;

	ck_assert_str_eq(name(), "train");
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		set_file(DOCKER ID_A "/config.v2.json", files[i].text);
		unit_frozen_ns += NSEC_PER_SEC;
		ck_assert_str_eq(name(), files[i].name);
	}
}

/* A file that could not be read just now does not change the name. */
TEST(no_answer)
{
	ck_assert_str_eq(name(), "train");
	gp_loop_fail(&loop, "root-file", 0, -EIO);
	unit_frozen_ns += 10 * NSEC_PER_SEC;
	ck_assert_str_eq(name(), "train");
}

static void setup(void)
{
	select_setup();
	set_file("/etc/docker/daemon.json", "{}");
	unit_frozen_ns = shr_now_ns();
}

static void teardown(void)
{
	unit_frozen_ns = 0;
	select_teardown();
}

TEST_FIXTURE(setup, teardown)
