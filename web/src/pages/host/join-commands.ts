/** Members of a package from `GET /downloads` that the commands need. */
export interface Download {
  readonly name: string;
  readonly path: string;
  readonly package: string;
  readonly format: string;
  readonly version: string;
  readonly sha256: string;
}

/** An operating system and the agent's package for it; the package is undefined if the coordinator serves none. */
export interface System {
  readonly id: string;
  readonly label: string;
  readonly file: Download | undefined;
}

const NPM_SYSTEMS = [
  { id: "linux", label: "Linux" },
  { id: "macos", label: "macOS" },
  { id: "windows", label: "Windows" },
] as const;

/** Installs for the user, without sudo, into a directory that usually is on the PATH. */
const INSTALL = "npm install --global --prefix ~/.local";
export const PATH_EXPORT = 'export PATH="$HOME/.local/bin:$PATH"';

/** Returns the supported systems with their packages. `files`: newest version first. */
export function systemsFor(files: readonly Download[]): readonly System[] {
  const ofAgent = files.filter((file) => file.package === "island");
  const debs = ofAgent.filter(({ format }) => format === "deb");
  return [
    ...NPM_SYSTEMS.map((system) => ({ ...system, file: ofAgent.find(({ format }) => format === "npm") })),
    ...debs
      .filter(({ version }) => version === debs[0]?.version)
      .map((file) => ({ id: file.name, label: `Debian, Ubuntu (${architectureOf(file)})`, file })),
  ];
}

/** Returns the id of the browser's system, which often is the machine to add. */
export function guessSystem(): string {
  const { userAgent } = navigator;
  if (userAgent.includes("Windows")) return "windows";
  return userAgent.includes("Mac OS") ? "macos" : "linux";
}

export interface Command {
  readonly what: string;
  readonly command: string;
}

/**
 * Returns the commands from download to start. `address`: coordinator address for the machine, without a final slash.
 */
export function commandsFor(system: System & { readonly file: Download }, address: string): readonly Command[] {
  const { id, file } = system;
  const curl = id === "windows" ? "curl.exe" : "curl";
  const join = `island join ${address}`;
  const download = [
    { what: "Download the agent", command: `${curl} -fLO ${address}${file.path}` },
    { what: "Verify the download", command: checkOf(id, file) },
  ];
  if (file.format === "deb") {
    return [
      ...download,
      { what: "Install it. The package includes Node.js and a service.", command: `sudo apt install ./${file.name}` },
      {
        what: "Join. The command asks for the code and starts the service. To verify the coordinator, add --fingerprint and the value that its operator gives you.",
        command: `sudo ${join}`,
      },
    ];
  }
  return [
    {
      what: "Install Node.js 24, unless node --version prints v24 or newer",
      command: id === "windows" ? "start https://nodejs.org/en/download" : `${INSTALL} node@24 && ${PATH_EXPORT}`,
    },
    ...download,
    {
      what: "Install it",
      command: id === "windows" ? `npm install --global ./${file.name}` : `${INSTALL} ./${file.name} && ${PATH_EXPORT}`,
    },
    {
      what: "Join. The command asks for the code. To verify the coordinator, add --fingerprint and the value that its operator gives you.",
      command: join,
    },
    { what: "Start it. It runs until you close this window.", command: "island start" },
    // The agent does not support a service on Windows.
    ...(id === "windows"
      ? []
      : [{ what: "Or run it in the background, now and after every log-in", command: "island install-service" }]),
  ];
}

function checkOf(system: string, { name, sha256 }: Download): string {
  if (system === "windows") return `if ((Get-FileHash ${name}).Hash -ne "${sha256}") { throw "${name} is damaged" }`;
  return `echo "${sha256}  ${name}" | ${system === "macos" ? "shasum -a 256" : "sha256sum"} -c`;
}

function architectureOf({ name }: Download): string {
  return /_(\w+)\.deb$/.exec(name)?.[1] ?? "";
}

/** Returns whether only the machine itself can reach the address. */
export function isLoopback(address: string): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(address).hostname);
}
