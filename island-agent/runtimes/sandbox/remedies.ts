import { existsSync, readFileSync } from "node:fs";

/** Kernel settings of this machine. Each of them is a known reason why a sandbox cannot be created. */
export interface KernelFacts {
  /** Ubuntu since 24.04: only programs with an AppArmor profile get user namespaces. */
  readonly appArmorRestricts: boolean;
  /** Debian before 11: a switch for all users except root. */
  readonly usersMayUnshare: boolean;
  /** Maximum number of user namespaces; null if unknown. */
  readonly maxUserNamespaces: number | null;
  readonly isContainer: boolean;
}

export const INSTALL_BUBBLEWRAP =
  "install bubblewrap 0.7 or newer: apt install bubblewrap, dnf install bubblewrap or pacman -S bubblewrap";

export function readKernelFacts(): KernelFacts {
  return {
    appArmorRestricts: readNumber("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") === 1,
    usersMayUnshare: readNumber("/proc/sys/kernel/unprivileged_userns_clone") !== 0,
    maxUserNamespaces: readNumber("/proc/sys/user/max_user_namespaces"),
    isContainer: existsSync("/.dockerenv") || existsSync("/run/.containerenv"),
  };
}

/**
 * Returns advice for a sandbox that could not be started. Sources: bubblewrap's messages;
 * github.com/containers/bubblewrap/issues/505 (Docker); github.com/microsoft/vscode/issues/316046 (Ubuntu 24.04).
 * @param problem output of bubblewrap.
 */
export function remedyFor(problem: string, facts: KernelFacts): string {
  if (/unknown option/i.test(problem)) return INSTALL_BUBBLEWRAP;
  if (/mount proc/i.test(problem)) {
    return facts.isContainer
      ? "start the container with --security-opt systempaths=unconfined --security-opt seccomp=unconfined"
      : "a service manager hides parts of /proc: remove ProtectKernelTunables, ProtectKernelLogs and ProtectProc from the unit";
  }
  if (facts.maxUserNamespaces === 0 || /ENOSPC|no space left/i.test(problem))
    return "the kernel allows no user namespaces: run sysctl -w user.max_user_namespaces=10000, and store it in /etc/sysctl.d";
  if (facts.isContainer)
    return "Docker's default seccomp profile forbids namespaces: start the container with --security-opt seccomp=unconfined --security-opt systempaths=unconfined";
  if (facts.appArmorRestricts)
    return "AppArmor forbids user namespaces (Ubuntu 24.04): run apt install apparmor-profiles, then ln -s /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ and systemctl reload apparmor";
  if (!facts.usersMayUnshare)
    return "the kernel allows user namespaces only for root: run sysctl -w kernel.unprivileged_userns_clone=1, and store it in /etc/sysctl.d";
  return "check the output of bubblewrap, or set sandbox = off to run native runtimes without a sandbox";
}

function readNumber(file: string): number | null {
  try {
    return Number(readFileSync(file, "utf8"));
  } catch {
    return null;
  }
}
