import Foundation
import ChildPrograms
import Testing

@Suite struct CommandTests {
    private static let before = "class Dog: Object {\n    @objc dynamic var name = \"\"\n}\n"
    private static let after = "class Dog: Object {\n    @Persisted var name = \"\"\n}\n"

    @Test func `Without a mode a diff is printed and nothing is written`() async throws {
        try await Command.inFolder { command in
            try command.write(Self.before, "Models/Dog.swift")
            for outcome in [try await command.run("Models"), try await command.run("Models", "--dry-run")] {
                #expect(outcome.status == 0)
                #expect(try Patch.apply(outcome.output, to: Self.before) == Self.after)
                #expect(outcome.output.hasPrefix("--- a/Models/Dog.swift\n+++ b/Models/Dog.swift\n"))
                #expect(outcome.messages.contains("1 file, 1 model classes. 1 file would change: 1 properties"))
            }
            #expect(try command.read("Models/Dog.swift") == Self.before)
        }
    }

    @Test(arguments: [".", "./Models", "Models/", "Models//Dog.swift", "./Models/./Dog.swift"])
    func `The diff names files the way git apply expects`(_ path: String) async throws {
        try await Command.inFolder { command in
            try command.write(Self.before, "Models/Dog.swift")
            let outcome = try await command.run(path)
            #expect(outcome.output.hasPrefix("--- a/Models/Dog.swift\n+++ b/Models/Dog.swift\n"), "\(outcome.output)")
        }
    }

    @Test func `In place, files are replaced but keep their permissions; a second run finds nothing`() async throws {
        try await Command.inFolder { command in
            try command.write(Self.before, "Dog.swift")
            try command.write("let a = 1\n", "Other.swift")
            let path = command.folder.appending(path: "Dog.swift").path()
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
            #expect(try await command.run("--check", ".").status == 1)
            let outcome = try await command.run("--in-place", ".")
            #expect(outcome.status == 0)
            #expect(outcome.output.isEmpty)
            #expect(try command.read("Dog.swift") == Self.after)
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o640)
            #expect(try command.names == ["Dog.swift", "Other.swift"])
            let check = try await command.run("--check", ".")
            #expect(check.status == 0)
            #expect(check.output.isEmpty)
        }
    }

    @Test func `A link given as an argument is followed, and stays a link`() async throws {
        try await Command.inFolder { command in
            try command.write(Self.before, "real/Dog.swift")
            let link = command.folder.appending(path: "Link.swift")
            try FileManager.default.createSymbolicLink(atPath: link.path(), withDestinationPath: "real/Dog.swift")
            #expect(try await command.run("--in-place", "Link.swift").status == 0)
            #expect(try command.read("real/Dog.swift") == Self.after)
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path()) == "real/Dog.swift")
        }
    }

    @Test func `Folders of dependencies and build products are skipped`() async throws {
        try await Command.inFolder { command in
            for folder in ["Pods", ".build", "Carthage", "DerivedData"] {
                try command.write(Self.before, "\(folder)/A.swift")
            }
            try command.write(Self.before, "A.swift")
            try command.write(Self.before, "A.txt")
            let outcome = try await command.run("--check", ".")
            #expect(outcome.output == "./A.swift\n")
        }
    }

    @Test func `A file that cannot be read is reported, and the others are rewritten`() async throws {
        try await Command.inFolder { command in
            try command.write(Self.before, "Dog.swift")
            try Data([0x63, 0xFF, 0xFE, 0x00]).write(to: command.folder.appending(path: "Binary.swift"))
            try Data([0x63, 0xFF, 0xFE]).write(to: command.folder.appending(path: "Latin.swift"))
            let outcome = try await command.run("--in-place", ".", "Missing.swift")
            #expect(outcome.status == 2)
            #expect(outcome.messages.contains("Missing.swift: error: There's no such file or folder."))
            #expect(outcome.messages.contains("Binary.swift: error: The file isn't UTF-8 text"))
            #expect(outcome.messages.contains("Latin.swift: error: The file isn't UTF-8 text"))
            #expect(try command.read("Dog.swift") == Self.after)
            #expect(
                try Data(contentsOf: command.folder.appending(path: "Binary.swift")) == Data([0x63, 0xFF, 0xFE, 0x00]))
        }
    }

    @Test func `Broken text is left alone and reported with its place, without a failure`() async throws {
        try await Command.inFolder { command in
            try command.write("class Dog: Object {\n", "Dog.swift")
            let outcome = try await command.run("--in-place", "Dog.swift")
            #expect(outcome.status == 0)
            #expect(outcome.messages.contains("Dog.swift:1:19: warning: This '{' is never closed."))
            #expect(try command.read("Dog.swift") == "class Dog: Object {\n")
        }
    }

    @Test func `Wrong usage is reported`() async throws {
        try await Command.inFolder { command in
            #expect(try await command.run().status == 64)
            #expect(try await command.run(".", "--check", "--in-place").status == 64)
            let help = try await command.run("--help")
            #expect(help.status == 0)
            for word in ["--in-place", "--check", "--dry-run", "--fix-quotes", "Exit codes"] {
                #expect(help.output.contains(word))
            }
        }
    }
}
