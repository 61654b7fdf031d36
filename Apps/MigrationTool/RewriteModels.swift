import ArgumentParser
import Codemod
import Foundation

/// `migration-tool codemod`
struct RewriteModels: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "codemod",
        abstract: "Rewrite Realm models from '@objc dynamic var' to '@Persisted var'.",
        discussion: """
            Reads Swift files and prints what would change as a unified diff, which 'git apply' accepts. Nothing is \
            written without --in-place. Pass all files of a module at once: a class is a model if it inherits from \
            Object or EmbeddedObject, directly or through other classes in these files.

            Folders are searched for .swift files; hidden folders, links, Pods, Carthage and DerivedData are skipped.

            What can't be rewritten is left unchanged and reported with file, line and what to write instead. The diff \
            goes to standard output; findings and the summary go to standard error. docs/codemod.md lists every rule.

            Examples:
              migration-tool codemod Sources                 look at what would change
              migration-tool codemod Sources --in-place      change it (commit first)
              migration-tool codemod Sources --check         in a build: fail if anything is left to rewrite

            Exit codes: 0 done, 1 with --check if anything would change, 2 a file couldn't be read or written (the \
            others are done), 64 wrong usage.
            """)

    enum Mode: String, EnumerableFlag {
        case dryRun, inPlace, check

        static func help(for value: Mode) -> ArgumentHelp? {
            switch value {
            case .dryRun: "Print the diff and write nothing. This is the default."
            case .inPlace: "Write the changed files, each completely or not at all."
            case .check:
                "Print the names of the files that would change, write nothing, and exit with 1 if there are any."
            }
        }
    }

    @Argument(help: "Swift files, or folders of them.", completion: .file(extensions: ["swift"]))
    var paths: [String]

    @Flag(exclusivity: .exclusive) var mode = Mode.dryRun

    @Flag(help: "Replace typographic quotes around strings, as pasted from web pages, with plain ones.")
    var fixQuotes = false

    func run() throws {
        var files = ModelFiles()
        let sources = files.read(paths)
        let rewritten = Codemod(fixesQuotes: fixQuotes).rewrite(sources)
        var counts = RewriteCounts()
        var warnings = 0
        var notes = 0
        var changed = 0
        for file in rewritten {
            counts = counts + file.counts
            for finding in file.findings {
                files.tell("\(finding)")
                if finding.kind == .warning { warnings += 1 } else { notes += 1 }
            }
            guard file.isChanged else { continue }
            switch mode {
            case .dryRun: print(file.diff, terminator: "")
            case .inPlace: guard files.write(file) else { continue }
            case .check: print(file.path)
            }
            changed += 1
        }
        let done = mode == .inPlace ? "changed" : "would change"
        files.tell(
            """
            \(Self.files(rewritten.count)), \(counts.models) model classes. \(Self.files(changed)) \(done): \
            \(counts.properties) properties, \(counts.enumerations) enumerations, \(counts.others) other places. \
            \(warnings) places left to you, \(notes) to look at.
            """)
        if files.hasFailed { throw ExitCode(2) }
        if mode == .check, changed > 0 { throw ExitCode(1) }
    }

    private static func files(_ count: Int) -> String { count == 1 ? "1 file" : "\(count) files" }
}
