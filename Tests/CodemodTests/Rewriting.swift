import Codemod

/// Rewrites one class's body, or whole files.
enum Rewriting {
    /// The result for members of `class Dog: Object`.
    static func member(_ text: String) -> String {
        let head = "class Dog: Object {\n"
        let result = file(head + text + "\n}\n")
        return String(result.dropFirst(head.count).dropLast(3))
    }

    static func file(_ text: String, fixesQuotes: Bool = false) -> String {
        run(text, fixesQuotes: fixesQuotes).text
    }

    static func run(_ text: String, fixesQuotes: Bool = false) -> RewrittenFile {
        Codemod(fixesQuotes: fixesQuotes).rewrite([SourceFile(path: "Dog.swift", text: text)])[0]
    }

    /// Each finding as `line:column kind: message`.
    static func findings(_ text: String, fixesQuotes: Bool = false) -> [String] {
        run(text, fixesQuotes: fixesQuotes).findings.map {
            "\($0.line):\($0.column) \($0.kind.rawValue): \($0.message)"
        }
    }
}
