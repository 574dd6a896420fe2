import { describe, expect, it } from "vitest";
import { type KernelFacts, remedyFor } from "../../../../island-agent/runtimes/sandbox/remedies.ts";

const FACTS: KernelFacts = {
  appArmorRestricts: false,
  usersMayUnshare: true,
  maxUserNamespaces: 96_365,
  isContainer: false,
};
const NO_PERMISSION =
  "bwrap: No permissions to create a new namespace, likely because the kernel does not allow non-privileged user namespaces.";

describe("remedyFor()", () => {
  it.each<[string, string, Partial<KernelFacts>, string]>([
    ["an old bubblewrap", "bwrap: Unknown option --size", {}, "install bubblewrap 0.7 or newer"],
    [
      "exhausted namespaces",
      "bwrap: Creating new namespace failed, likely because of user.max_user_namespaces (ENOSPC)",
      {},
      "sysctl -w user.max_user_namespaces",
    ],
    ["namespaces that are off", NO_PERMISSION, { maxUserNamespaces: 0 }, "sysctl -w user.max_user_namespaces"],
    [
      "Ubuntu 24.04",
      "bwrap: setting up uid map: Permission denied",
      { appArmorRestricts: true },
      "bwrap-userns-restrict /etc/apparmor.d/",
    ],
    ["Docker's seccomp profile", NO_PERMISSION, { isContainer: true }, "--security-opt seccomp=unconfined"],
    [
      "a masked /proc in a container",
      "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
      { isContainer: true },
      "--security-opt systempaths=unconfined",
    ],
    [
      "a /proc hidden by the unit",
      "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
      {},
      "remove ProtectKernelTunables",
    ],
    ["an old Debian", NO_PERMISSION, { usersMayUnshare: false }, "sysctl -w kernel.unprivileged_userns_clone=1"],
    ["what is not known", "bwrap: something new", {}, "check the output of bubblewrap"],
  ])("returns advice for %s", (_what, problem, facts, remedy) => {
    expect(remedyFor(problem, { ...FACTS, ...facts })).toContain(remedy);
  });
});
