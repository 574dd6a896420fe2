import { spawn } from "node:child_process";
import type { Launch, Sandbox } from "./sandbox.ts";

/** JOB_OBJECT_LIMIT_PROCESS_MEMORY, DIE_ON_UNHANDLED_EXCEPTION and KILL_ON_JOB_CLOSE. Source: winnt.h. */
const LIMITS = 0x100 | 0x400 | 0x2000;
const EXTENDED_LIMIT_INFORMATION = 9;

/**
 * Windows job object, which limits the memory of the host and ends it with the agent. It restricts neither files nor
 * network. Node.js cannot create one, so PowerShell does, and holds it until the host or the agent has ended. It has
 * not been tested.
 */
export function jobObject(memoryLimitBytes: number | null): Sandbox {
  return {
    kind: "job object",
    wrap({ file, args, environment }): Launch {
      const onStarted = (pid: number): void => putIntoJob(pid, memoryLimitBytes);
      return { file, args, environment, inputs: [], depth: 0, onStarted };
    },
  };
}

function putIntoJob(pid: number, memoryLimitBytes: number | null): void {
  const script = scriptFor(pid, process.pid, memoryLimitBytes);
  const encoded = Buffer.from(script, "utf16le").toString("base64");
  const args = ["-NoProfile", "-NonInteractive", "-EncodedCommand", encoded];
  const helper = spawn("powershell.exe", args, { stdio: "ignore", windowsHide: true });
  // Without PowerShell the host runs without a sandbox.
  helper.on("error", () => {});
  helper.unref();
}

function scriptFor(pid: number, agentPid: number, memoryLimitBytes: number | null): string {
  const flags = memoryLimitBytes === null ? LIMITS & ~0x100 : LIMITS;
  return `
Add-Type -Namespace Atoll -Name Job -MemberDefinition @'
[StructLayout(LayoutKind.Sequential)] public struct Limits {
  public long A, B; public uint Flags; public UIntPtr C, D; public uint E; public UIntPtr F; public uint G, H;
  public ulong I, J, K, L, M, N; public UIntPtr ProcessMemory, JobMemory, O, P;
}
[DllImport("kernel32")] public static extern IntPtr CreateJobObject(IntPtr attributes, string name);
[DllImport("kernel32")] public static extern bool SetInformationJobObject(IntPtr job, int kind, ref Limits limits, uint bytes);
[DllImport("kernel32")] public static extern bool AssignProcessToJobObject(IntPtr job, IntPtr process);
'@
$inside = Get-Process -Id ${pid}
$agent = Get-Process -Id ${agentPid}
$limits = New-Object Atoll.Job+Limits
$limits.Flags = ${flags}
$limits.ProcessMemory = [UIntPtr]::new([uint64]${Math.floor(memoryLimitBytes ?? 0)})
$job = [Atoll.Job]::CreateJobObject([IntPtr]::Zero, $null)
$bytes = [System.Runtime.InteropServices.Marshal]::SizeOf($limits)
[void][Atoll.Job]::SetInformationJobObject($job, ${EXTENDED_LIMIT_INFORMATION}, [ref]$limits, $bytes)
[void][Atoll.Job]::AssignProcessToJobObject($job, $inside.Handle)
while (-not $inside.WaitForExit(1000)) { if ($agent.HasExited) { break } }
`;
}
