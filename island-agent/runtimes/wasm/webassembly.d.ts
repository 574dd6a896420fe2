/**
 * Parts of the WebAssembly JavaScript interface that we use. TypeScript declares it only in its library of browser
 * types. Source: https://webassembly.github.io/spec/js-api/
 */
declare namespace WebAssembly {
  interface Module {
    readonly [brand: symbol]: "WebAssembly.Module";
  }
  interface ImportDescriptor {
    readonly module: string;
    readonly name: string;
    readonly kind: "function" | "table" | "memory" | "global" | "tag";
  }
  const Module: { imports(module: Module): ImportDescriptor[] };
  type ModuleImports = Record<string, (...args: never[]) => unknown>;
  type Imports = Record<string, ModuleImports>;
  class Memory {
    readonly buffer: ArrayBuffer;
  }
  class Instance {
    constructor(module: Module, imports: Imports);
    readonly exports: Readonly<Record<string, unknown>>;
  }
  function compile(bytes: Uint8Array<ArrayBuffer>): Promise<Module>;
}
