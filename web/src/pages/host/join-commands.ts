export type System = "linux" | "macos" | "windows";

export const SYSTEMS: readonly { readonly id: System; readonly label: string }[] = [
  { id: "linux", label: "Linux" },
  { id: "macos", label: "macOS" },
  { id: "windows", label: "Windows" },
];

/** The system that the browser runs on: often the machine that is added. */
export function guessSystem(): System {
  const { userAgent } = navigator;
  if (userAgent.includes("Windows")) return "windows";
  return userAgent.includes("Mac OS") ? "macos" : "linux";
}

export interface Command {
  readonly what: string;
  readonly command: string;
}

export function commandsFor(system: System, address: string, code: string): readonly Command[] {
  return [
    { what: "Install the agent. It needs Node.js 24 or newer.", command: "npm install --global @atoll/island" },
    { what: "Join with the code", command: `island join ${address} --code ${code}` },
    { what: "Start it, for as long as this window is open", command: "island start" },
    // Windows has no service of it yet.
    ...(system === "windows"
      ? []
      : [{ what: "Or let it run in the background, now and at every log-in", command: "island install-service" }]),
  ];
}
