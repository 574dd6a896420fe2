/** Entry of the process that tests a sandbox, which must be able to read our code and packages. */
try {
  void import.meta.resolve("zod");
} catch {
  process.stderr.write("the packages of Atoll cannot be read inside the sandbox\n");
  process.exitCode = 1;
}
