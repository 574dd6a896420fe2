/** Entry of the process that tries a sandbox: it must find our code, which this file is part of, and our packages. */
try {
  void import.meta.resolve("zod");
} catch {
  process.stderr.write("the packages of Atoll cannot be read inside\n");
  process.exitCode = 1;
}
