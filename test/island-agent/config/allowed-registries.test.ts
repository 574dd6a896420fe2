import { describe, expect, it } from "vitest";
import { AllowedRegistries, DEFAULT_REGISTRIES, splitImage } from "../../../island-agent/config/allowed-registries.ts";

function allows(entries: readonly string[], image: string): boolean {
  try {
    new AllowedRegistries(entries).check(image);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ name: "JobFailure", code: "model_unavailable", retryable: true });
    return false;
  }
}

describe("AllowedRegistries", () => {
  it.each([
    ["docker.io", "docker.io/library/python:3.13"],
    ["docker.io/library", "docker.io/library/python:3.13"],
    ["docker.io/library/python", "docker.io/library/python:3.13"],
    ["docker.io/library", "docker.io/python:3.13"],
    ["docker.io/bitnami", "docker.io/bitnami/redis:8"],
    ["ghcr.io/tool", "ghcr.io/tool:1"],
    ["Docker.IO/Library", "docker.io/library/python:3.13"],
    ["registry.example:5000", "registry.example:5000/team/image:1"],
    ["localhost:5000/team", "localhost:5000/team/image:1"],
  ])("with entry %s allows %s", (entry, image) => {
    expect(allows(["ghcr.io", entry], image)).toBe(true);
  });

  it.each([
    ["docker.io", "docker.io.evil.com/library/python:3.13"],
    ["docker.io", "evil-docker.io/library/python:3.13"],
    ["docker.io", "evil.com/docker.io/python:3.13"],
    ["docker.io", "docker.io:443/library/python:3.13"],
    ["docker.io", "DOCKER.IO/library/python:3.13"],
    ["docker.io/library", "docker.io/libraryx/python:3.13"],
    ["docker.io/library", "docker.io/library:3.13x/python:1"],
    ["docker.io/library/python", "docker.io/library/python-evil:3.13"],
    ["docker.io/library", "docker.io/librar/y:1"],
    ["docker.io/bitnami", "docker.io/bitnami:latest"],
    ["index.docker.io/bitnami", "index.docker.io/bitnami:latest"],
    ["registry.example:5000", "registry.example/team/image:1"],
    ["registry.example:5000", "registry.example:50001/team/image:1"],
    ["registry.example", "registry.example:5000/team/image:1"],
    ["docker.io", "library/python:3.13"],
  ])("with entry %s does not allow %s", (entry, image) => {
    expect(allows([entry], image)).toBe(false);
  });

  it("allows nothing without entries, and describes that", () => {
    expect(() => new AllowedRegistries([]).check("docker.io/library/python:3")).toThrow("Allowed registries: none");
  });

  it("allows the registries of the catalog's images by default", () => {
    expect(allows(DEFAULT_REGISTRIES, "docker.io/pandoc/core:3.8")).toBe(true);
    expect(allows(DEFAULT_REGISTRIES, "quay.io/pandoc/core:3.8")).toBe(false);
  });

  it.each([
    "",
    "*",
    "*.io",
    "https://docker.io",
    "docker.io/",
    "docker.io//x",
    "library",
    "docker.io:",
    "docker..io",
    "-/x y",
  ])("refuses the entry %j", (entry) => {
    expect(() => new AllowedRegistries([entry])).toThrow(TypeError);
  });
});

describe("splitImage()", () => {
  it("splits at the last colon", () => {
    expect(splitImage("localhost:5000/a/b:1.2")).toEqual({ repository: "localhost:5000/a/b", tag: "1.2" });
  });
});
