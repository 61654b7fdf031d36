import Codemod
import Foundation
import Testing

/// Models as users have them, in `Fixtures`, and the codemod's output for them, in `Tests/Codemod/SeedModels`.
struct Fixture: Sendable, CustomTestStringConvertible {
    let name: String

    static let all = ["SUSI", "Santa", "SchoolRepositories", "Chat", "Listing", "Kennel"].map(Fixture.init)

    var testDescription: String { name }

    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    var text: String {
        get throws {
            try String(contentsOf: Self.tests.appending(path: "Fixtures/\(name).swift.txt"), encoding: .utf8)
        }
    }

    /// The codemod's output, which is compiled.
    var compiled: URL { Self.tests.deletingLastPathComponent().appending(path: "Codemod/SeedModels/\(name).swift") }

    var rewritten: RewrittenFile {
        get throws { Codemod(fixesQuotes: true).rewrite([SourceFile(path: "\(name).swift", text: try text)])[0] }
    }
}
