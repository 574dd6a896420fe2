/** What the commands need of a package that `GET /downloads` lists. */
export interface Download {
  readonly name: string;
  readonly path: string;
  readonly package: string;
  readonly format: string;
  readonly version: string;
  readonly sha256: string;
}

/** A kind of machine that can be added, with the agent's package for it; undefined: the coordinator serves none. */
export interface System {
  readonly id: string;
  readonly label: string;
  readonly file: Download | undefined;
}

const ON_NPM = [
  { id: "linux", label: "Linux" },
  { id: "macos", label: "macOS" },
  { id: "windows", label: "Windows" },
] as const;

const NODE = "npm install --global node@24";
/** For this window. The second variable: npm would install the agent beside that node, where no PATH leads. */
const NODE_FIRST = 'export PATH="$HOME/.local/bin:$PATH" npm_config_prefix="$HOME/.local"';

/** `files`: newest version first. */
export function systemsFor(files: readonly Download[]): readonly System[] {
  const ofAgent = files.filter((file) => file.package === "island");
  const debs = ofAgent.filter(({ format }) => format === "deb");
  return [
    ...ON_NPM.map((system) => ({ ...system, file: ofAgent.find(({ format }) => format === "npm") })),
    ...debs
      .filter(({ version }) => version === debs[0]?.version)
      .map((file) => ({ id: file.name, label: `Debian, Ubuntu (${architectureOf(file)})`, file })),
  ];
}

/** Id of the system that the browser runs on: often the machine that is added. */
export function guessSystem(): string {
  const { userAgent } = navigator;
  if (userAgent.includes("Windows")) return "windows";
  return userAgent.includes("Mac OS") ? "macos" : "linux";
}

export interface Command {
  readonly what: string;
  readonly command: string;
}

/** From the download to an Island that runs. `address`: where the machine reaches the coordinator, without a slash at the end. */
export function commandsFor(system: System & { readonly file: Download }, address: string): readonly Command[] {
  const { id, file } = system;
  const curl = id === "windows" ? "curl.exe" : "curl";
  const join = `island join ${address}`;
  const download = [
    { what: "Download the agent", command: `${curl} -fLO ${address}${file.path}` },
    { what: "Check that it arrived whole", command: checkOf(id, file) },
  ];
  if (file.format === "deb") {
    return [
      ...download,
      { what: "Install it. The package brings Node.js and a service.", command: `sudo apt install ./${file.name}` },
      { what: "Join: the command asks for the code, and starts the service", command: `sudo ${join}` },
    ];
  }
  return [
    {
      what: "Get Node.js 24, unless node --version says 24 or newer",
      command: id === "windows" ? NODE : `${NODE} --prefix ~/.local && ${NODE_FIRST}`,
    },
    ...download,
    { what: "Install it", command: `npm install --global ./${file.name}` },
    { what: "Join: the command asks for the code", command: join },
    { what: "Start it, for as long as this window is open", command: "island start" },
    // The agent has no service for Windows.
    ...(id === "windows"
      ? []
      : [{ what: "Or let it run in the background, now and at every log-in", command: "island install-service" }]),
  ];
}

function checkOf(system: string, { name, sha256 }: Download): string {
  if (system === "windows") return `if ((Get-FileHash ${name}).Hash -ne "${sha256}") { throw "${name} is damaged" }`;
  return `echo "${sha256}  ${name}" | ${system === "macos" ? "shasum -a 256" : "sha256sum"} -c`;
}

function architectureOf({ name }: Download): string {
  return /_(\w+)\.deb$/.exec(name)?.[1] ?? "";
}

/** Whether only the machine itself reaches an address. */
export function isLoopback(address: string): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(address).hostname);
}
