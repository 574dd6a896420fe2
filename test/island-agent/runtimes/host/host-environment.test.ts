import { describe, expect, it } from "vitest";
import { hostEnvironment } from "../../../../island-agent/runtimes/host/host-environment.ts";

const own = {
  HOME: "/home/me",
  Path: "/bin",
  SystemRoot: "C:\\",
  CUDA_PATH: "/cuda",
  NODE_COMPILE_CACHE: "/cache",
  TOKEN: "secret",
  TMP: undefined,
};

describe("hostEnvironment()", () => {
  it("passes on what native code needs, whatever the case, and no secret", () => {
    expect(hostEnvironment(own, { UV_THREADPOOL_SIZE: "2" })).toEqual({
      HOME: "/home/me",
      Path: "/bin",
      SystemRoot: "C:\\",
      CUDA_PATH: "/cuda",
      NODE_COMPILE_CACHE: "/cache",
      TMP: "",
      ORT_DISABLE_TELEMETRY: "1",
      UV_THREADPOOL_SIZE: "2",
    });
  });

  it("passes on neither home, path nor drivers where no native code runs", () => {
    expect(hostEnvironment(own, {}, "plain")).toEqual({ SystemRoot: "C:\\", TMP: "" });
  });
});
