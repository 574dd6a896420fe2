/** A program that is published as a separate npm package. */
export interface PublishedProgram {
  /** Folder below `dist/packages/`. */
  readonly folder: string;
  readonly name: string;
  readonly description: string;
  /** Name of the installed command and of the program in `bin/`. */
  readonly command: string;
  readonly program: "coordinator" | "island";
  /** Folders of `dist/` that are packed completely, because their code starts files by name. */
  readonly folders: readonly string[];
  /** Files and folders of the repository that the program reads. Paths that do not exist are skipped. */
  readonly files: readonly string[];
  /** Returns whether a package is not needed by a fresh installation. */
  readonly isLeftOut: (name: string) => boolean;
}

/** Packages for SSH to a Docker host. Islands do not use them, and npm would compile them. */
const COMPILED = ["cpu-features", "nan"];
/** Packages for browsers. */
const FOR_BROWSERS = ["onnxruntime-web"];
/** Packages for the install script of onnxruntime-node. */
const FOR_SCRIPTS = ["adm-zip", "global-agent"];
/** Returns whether a package is a back end that `island runtimes add` installs on suitable machines. */
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
