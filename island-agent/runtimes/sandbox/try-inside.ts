/** Entry of the process that tests a sandbox. It must be able to read our code, which includes this file, and our packages. */
try {
  void import.meta.resolve("zod");
} catch {
  process.stderr.write("the packages of Atoll cannot be read inside the sandbox\n");
  process.exitCode = 1;
}
