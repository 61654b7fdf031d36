import Foundation
import Testing

@Suite struct ReadmeTests {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// `Apps/Examples/Readme` and `Notes` are built with everything else, so the README's examples compile.
    @Test("The README's examples match the files that are compiled")
    func examples() throws {
        let readme = try String(contentsOf: Self.root.appending(path: "README.md"), encoding: .utf8)
        let compiled = try ["Readme", "Notes"].map { name in
            try String(contentsOf: Self.root.appending(path: "Apps/Examples/\(name)/main.swift"), encoding: .utf8)
        }
        let blocks = readme.components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
        #expect(Array(blocks) == compiled, "Copy the README's examples into Apps/Examples/Readme and Notes.")
    }

    @Test("The code in the guide to panel pages comes from the event platform, which is compiled")
    func panelPages() throws {
        func lines(_ text: String) -> String {
            text.split(separator: "\n").map { $0.drop { $0 == " " } }.joined(separator: "\n")
        }
        let compiled = try ["Packages/Conference/ConferencePanel", "Apps/Conference/Admin"].flatMap { folder in
            let folder = Self.root.appending(path: folder)
            return try FileManager.default.contentsOfDirectory(atPath: folder.path()).filter { $0.hasSuffix(".swift") }
                .map { lines(try String(contentsOf: folder.appending(path: $0), encoding: .utf8)) }
        }
        let guide = try String(contentsOf: Self.root.appending(path: "docs/panel-pages.md"), encoding: .utf8)
        let blocks = guide.components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
        #expect(blocks.count > 5)
        for block in blocks {
            #expect(compiled.contains { $0.contains(lines(block)) }, "No file contains this:\n\(block)")
        }
    }

    @Test("Every relative link in the documentation points to an existing file")
    func links() throws {
        var problems: [String] = []
        var names = ["README.md", "CONTRIBUTING.md"]
        for folder in ["docs", "docs/adr"] {
            let files = try FileManager.default.contentsOfDirectory(atPath: Self.root.appending(path: folder).path())
            names += files.filter { $0.hasSuffix(".md") }.sorted().map { "\(folder)/\($0)" }
        }
        #expect(names.count > 20)
        for name in names {
            let file = Self.root.appending(path: name)
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: /\]\(([^)#\s]+)[^)]*\)/)
            where !match.1.contains("://") && !match.1.hasPrefix("NNNN-") {
                let target = file.deletingLastPathComponent().appending(path: String(match.1))
                if !FileManager.default.fileExists(atPath: target.path()) {
                    problems.append("\(name) links to \(match.1), which is not there.")
                }
            }
        }
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }
}
