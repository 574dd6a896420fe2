import { describe, expect, it } from "vitest";
import { failureOfExit } from "../../../../island-agent/runtimes/container/exit-failure.ts";

const MIB = 1_048_576;
const failure = (code: number, tail = "", isOutOfMemory = false): unknown =>
  failureOfExit({ code, isOutOfMemory }, 64 * MIB, tail);

describe("failureOfExit()", () => {
  it.each([
    [0, false, "The Cargo's program ended without a `done` line"],
    [1, false, "The Cargo's program ended with exit code 1"],
    [125, false, "The Cargo's program ended with exit code 125 (the engine could not run it)"],
    [126, false, "The Cargo's program ended with exit code 126 (a command in it is not executable)"],
    [127, false, "The Cargo's program ended with exit code 127 (a command in it was not found)"],
    [128, false, "The Cargo's program ended with exit code 128"],
    [
      132,
      true,
      "The Cargo's program used an instruction that this Island's processor does not have (SIGILL, exit code 132)",
    ],
    [137, true, "The Cargo's program was killed (SIGKILL, exit code 137)"],
    [139, true, "The Cargo's program crashed: invalid memory access (SIGSEGV, exit code 139)"],
    [143, true, "The Cargo's program was terminated (SIGTERM, exit code 143)"],
    [141, true, "The Cargo's program was ended (SIGPIPE, exit code 141)"],
    [255, false, "The Cargo's program ended with exit code 255"],
  ])("describes exit code %d", (code, retryable, message) => {
    expect(failure(code)).toMatchObject({ code: "cargo_failed", retryable, message });
  });

  it("quotes the end of standard error", () => {
    expect(failure(1, "line 3\nline 4")).toMatchObject({
      message: "The Cargo's program ended with exit code 1; its standard error ends with:\nline 3\nline 4",
    });
  });

  it("reports a lack of memory with any exit code, without a quote", () => {
    expect(failure(1, "secret", true)).toMatchObject({
      code: "out_of_memory",
      retryable: false,
      message: "The Cargo's program exceeded its memory limit of 64 MiB and was killed",
    });
  });
});
