import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestEngine, VOLUME_IMAGE } from "../../../../support/servers/container-engine.ts";
import { MIB, ContainerWorld, makeCargo, NEVER } from "./container-support.ts";

/** Attempts of a program to leave its container or exceed its limits. */
export function describeIsolation(engine: () => TestEngine): void {
  describe("a container's program", () => {
    let world: ContainerWorld;
    beforeAll(async () => {
      world = await ContainerWorld.open(engine());
    });
    afterAll(() => world.close());

    const outputOf = (work: string, image?: string): Promise<unknown> => world.capture(work, image);

    it("runs as user 65534 without capabilities, under seccomp, and cannot gain privileges", async () => {
      const text = await outputOf(
        "id -u; id -g; grep -E '^(CapPrm|CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status",
      );
      expect(text).toMatch(/^65534 65534 CapPrm:\s0+ CapEff:\s0+ CapBnd:\s0+ NoNewPrivs:\s1 Seccomp:\s2 $/);
    });

    it("gains no privilege with a setuid binary", async () => {
      expect(await outputOf("ls -l /setuid/su; /setuid/su root -c id; cat /etc/shadow")).toMatch(
        /^-rwsr-xr-x .*su: must be suid to work properly .*can't open '\/etc\/shadow': Permission denied $/,
      );
    });

    it.each([
      "/escape",
      "/data/escape",
      "/bin/sh",
      "/etc/passwd",
      "/dev/escape",
      "/dev/shm/escape",
      "/proc/sys/kernel/core_pattern",
      "/var/x",
    ])("cannot write %s", async (path) => {
      expect(await outputOf(`echo x > ${path} && echo written`)).not.toContain("written");
    });

    it("can write to /tmp, but not execute files there", async () => {
      const text = await outputOf(
        "cp /bin/busybox /tmp/x && chmod +x /tmp/x && echo copied; /tmp/x true; echo code $?",
      );
      expect(text).toMatch(/^copied .*\/tmp\/x: Permission denied code 126 $/);
    });

    it("can fill /tmp only up to its size", async () => {
      expect(await outputOf("dd if=/dev/zero of=/tmp/full bs=1M; ls -l /tmp/full")).toMatch(
        /No space left on device.* 25165824 /,
      );
    });

    it("gets a tmpfs where the image declares a volume, not the host's disk", async () => {
      const text = await outputOf("grep ' /data ' /proc/mounts; dd if=/dev/zero of=/data/full bs=1M", VOLUME_IMAGE);
      expect(text).toMatch(/^tmpfs \/data tmpfs rw,nosuid,nodev,noexec.*No space left on device/);
    });

    it("sees no files, processes or settings of the host", async () => {
      const text = await outputOf(`ls / /home ${world.directory}; ls -d /proc/[0-9]* | wc -l; env`);
      expect(text).toMatch(/ls: \/home: No such file/);
      expect(text).toContain(`ls: ${world.directory}: No such file`);
      expect(text).not.toContain("docker.sock");
      expect(await outputOf("cut -d: -f3 /proc/self/cgroup | sort -u")).toBe("/ ");
      expect(text).toMatch(/HOME=\/tmp/);
      expect(text).not.toMatch(/DOCKER_HOST|npm_/);
    });

    it("has no network", async () => {
      const text = await outputOf("ls /sys/class/net; nc -w 2 10.0.0.1 80; ping -c 1 127.0.0.1");
      expect(text).toMatch(/^lo nc: can't connect.*Network is unreachable/);
      expect(text).toMatch(/ping: .*(denied|not permitted)/);
    });

    it("has limits for CPU and open files, no core dumps, and a high OOM score", async () => {
      const quota = "cd /sys/fs/cgroup; cat cpu.max || echo $(cat cpu/cpu.cfs_quota_us) $(cat cpu/cpu.cfs_period_us)";
      const text = await outputOf(`(${quota}) 2>/dev/null; ulimit -n; ulimit -c; cat /proc/self/oom_score_adj`);
      expect(text).toBe("100000 100000 1024 0 500 ");
    });

    it("has neither a log of its engine nor the health check of its image", async () => {
      await using loaded = await world.load(makeCargo("read -r job; sleep 1000", { image: VOLUME_IMAGE }));
      expect(loaded.warmContainers).toBe(1);
      const filters = { label: [`org.atoll.island=${world.islandId}`] };
      const [newest] = await engine().docker.listContainers({ filters });
      const found = await engine()
        .docker.getContainer(newest?.Id ?? "")
        .inspect();
      expect(found.HostConfig.LogConfig).toMatchObject({ Type: "none" });
      expect(found.State.Health).toBeUndefined();
    });

    it("can neither mount nor create a namespace", async () => {
      expect(await outputOf("mount -t tmpfs x /tmp; unshare -r id; chroot / id; mknod /tmp/n b 8 0")).not.toMatch(
        /uid=0/,
      );
    });

    it("cannot exceed its number of processes", async () => {
      const forks = "i=0; while [ $i -lt 1000 ]; do sleep 100 & i=$((i+1)); done";
      const outcome = world.run(makeCargo(`read -r job; ${forks}`, {}, 512 * MIB));
      await expect(outcome).rejects.toMatchObject({
        code: "cargo_failed",
        message: expect.stringMatching(
          /exit code 2; its standard error ends with:\n.*can't fork: Resource temporarily unavailable/,
        ),
      });
    });

    // A busy engine does not always report memory as the reason.
    it("is killed if it exceeds its memory limit, and the job fails with out_of_memory", { retry: 4 }, async () => {
      const outcome = world.shell("exec tail -c 200m /dev/zero");
      await expect(outcome).rejects.toMatchObject({
        code: "out_of_memory",
        retryable: false,
        message: "The Cargo's program exceeded its memory limit of 48 MiB and was killed",
      });
    });

    it("is killed if it ignores signals", async () => {
      const controller = new AbortController();
      const reason = new Error("not wanted any more");
      const stubborn = `trap '' TERM INT HUP; read -r job; echo '{"type":"progress","step":0,"total":1}'; while :; do :; done`;
      const outcome = world.run(makeCargo(stubborn), {}, controller.signal, () => controller.abort(reason));
      await expect(outcome).rejects.toBe(reason);
    });

    it("may ignore its input", async () => {
      const deaf = `sleep 0.2; echo '{"type":"done"}'`;
      const input = { text: "x".repeat(1_000_000) };
      expect(await world.run(makeCargo(deaf), input)).toMatchObject({ finishReason: "stop", items: [] });
    });

    it("is stopped if a line exceeds the limit", async () => {
      await expect(world.shell("tr '\\0' a < /dev/zero")).rejects.toMatchObject({
        code: "output_too_large",
        message: expect.stringContaining("line 1 of its output exceeds 8000000 bytes"),
      });
    });

    it("is stopped if its output exceeds the limit", async () => {
      const flood = `yes '{"type":"token","content":"${"x".repeat(500)}"}'`;
      await expect(world.shell(flood)).rejects.toMatchObject({
        code: "output_too_large",
        message: expect.stringContaining("its output exceeds 64000000 bytes"),
      });
    });

    it("may write much to standard error, whose end is quoted", async () => {
      const flood = "yes secret | head -c 12000000 >&2; echo the last words >&2; exit 3";
      const failure = await world.shell(flood).catch((error: Error) => error);
      expect(failure).toMatchObject({ code: "cargo_failed", retryable: false });
      expect((failure as Error).message).toMatch(
        /ended with exit code 3; its standard error ends with:\n[^]*the last words$/,
      );
      expect((failure as Error).message.length).toBeLessThan(1_700);
    });

    it("is stopped if its standard error exceeds the limit", async () => {
      await expect(world.shell("yes secret >&2")).rejects.toMatchObject({
        code: "output_too_large",
        retryable: false,
        message: "The Cargo's program wrote too much: its standard error exceeds 16000000 bytes",
      });
    });

    it("is not kept warm if it floods standard error without a job", async () => {
      const loaded = await world.load(makeCargo("yes secret >&2"));
      await expect.poll(() => loaded.warmContainers, { timeout: 20_000 }).toBe(0);
      await expect(loaded.run({ input: {}, resume: null }, () => undefined, NEVER)).rejects.toMatchObject({
        code: "output_too_large",
      });
      expect(loaded.warmContainers).toBe(0);
      await loaded[Symbol.asyncDispose]();
    });

    it("leaves no container behind", async () => {
      await world.unload();
      expect(await world.containers()).toBe(0);
    });
  });
}
