/** A program that is published as an npm package of its own. */
export interface PublishedProgram {
  /** Folder below `dist/packages/`. */
  readonly folder: string;
  readonly name: string;
  readonly description: string;
  /** The command that it installs, and the program in `bin/` that it is. */
  readonly command: string;
  readonly program: "coordinator" | "island";
  /** Folders of `dist/` that are packed whole, because they start files of their own by name. */
  readonly folders: readonly string[];
  /** Files and folders of the repository that it reads or shows. Those that are missing are left out. */
  readonly files: readonly string[];
  /** Packages that a fresh installation does without. */
  readonly isLeftOut: (name: string) => boolean;
}

/** For ssh to a Docker host, which no Island uses; it would be compiled. */
const COMPILED = ["cpu-features", "nan"];
/** For browsers. */
const FOR_BROWSERS = ["onnxruntime-web"];
/** Of the install script of onnxruntime-node. */
const FOR_SCRIPTS = ["adm-zip", "global-agent"];
/** Back ends that `island runtimes add` installs where they serve. */
const isBackEnd = (name: string): boolean => /^@node-llama-cpp\/.*-(?:cuda|cuda-ext|vulkan)$/.test(name);

export const COORDINATOR: PublishedProgram = {
  folder: "coordinator",
  name: "@atoll/coordinator",
  description: "The coordinator of an Atoll network: a REST and OpenAI-compatible API for jobs that Islands run.",
  command: "atoll-coordinator",
  program: "coordinator",
  folders: ["coordinator", "shared"],
  files: [
    ...["catalog/README.md", "catalog/cargos", "catalog/models", "catalog/recipes", "web/dist"],
    ...["coordinator/config/example.toml", "docs", "ARCHITECTURE.md", "CHANGELOG.md", "LICENSE"],
  ],
  isLeftOut: () => false,
};

export const ISLAND: PublishedProgram = {
  folder: "island",
  name: "@atoll/island",
  description: "Makes a machine an Island of an Atoll network: it runs jobs for a coordinator.",
  command: "island",
  program: "island",
  folders: ["island-agent", "shared"],
  files: ["catalog/models/tiny-islander.gguf", "docs/host", "CHANGELOG.md", "LICENSE"],
  isLeftOut: (name) =>
    isBackEnd(name) || COMPILED.includes(name) || FOR_BROWSERS.includes(name) || FOR_SCRIPTS.includes(name),
};
