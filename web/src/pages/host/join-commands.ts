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
  const start = system === "windows" ? "Start it" : "Start it; island service install starts it with the machine";
  return [
    { what: "Install the agent; it needs Node.js 24", command: "npm install -g island" },
    { what: "Join with the code", command: `island join ${address} --code ${code}` },
    { what: start, command: "island start" },
  ];
}
