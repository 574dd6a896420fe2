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
  it("passes on the variables of native code, case-insensitively, and no secrets", () => {
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

  it("omits HOME, PATH and driver variables without native code", () => {
    expect(hostEnvironment(own, {}, "plain")).toEqual({ SystemRoot: "C:\\", TMP: "" });
  });
});
