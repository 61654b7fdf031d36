extension FileRewriter {
    /// `import Realm` imports the ObjC library. RealmSwift replaces it.
    mutating func rewriteImports() {
        var imports: [(token: Int, name: String)] = []
        var token = 0
        while token < source.tokens.count {
            if source.isToken(token, "import"), let name = source.name(token + 1) { imports.append((token, name)) }
            token = source.next(token)
        }
        let hasRealmSwift = imports.contains { $0.name == "RealmSwift" }
        var isReplaced = false
        for (token, name) in imports where name == "Realm" && !source.isToken(token + 2, ".") {
            if hasRealmSwift || isReplaced {
                remove(token..<token + 2)
            } else {
                replace(token + 1, with: "RealmSwift")
                isReplaced = true
            }
            counts.others += 1
        }
        guard counts.models > 0 else { return }
        for (token, name) in imports where ["UIKit", "AppKit", "SwiftUI", "Cocoa"].contains(name) {
            report(
                .note, at: token, "\(name) is only on Apple's platforms.",
                "If the models are built on Linux too, write 'import Foundation', or put this inside '#if canImport'."
            )
        }
    }
}
