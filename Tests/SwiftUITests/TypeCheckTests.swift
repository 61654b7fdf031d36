import Foundation
import Testing

/// Linux has no SwiftUI, so there the layer is only type-checked, against stand-ins for the declarations of SwiftUI and
/// Combine that it uses. Nothing of it runs. The types that it's built on do run, in ObservablesTests.
@Suite("The SwiftUI layer against stand-ins", .serialized, .timeLimit(.minutes(15)))
struct TypeCheckTests {
    private func withModules(
        _ conditions: [String] = [], _ body: (StandInModules) async throws -> Void
    ) async throws {
        let modules = try await StandInModules(conditions: conditions)
        defer { modules.remove() }
        try await body(modules)
    }

    @Test("The layer's files have neither errors nor warnings, whether or not DynamicProperty is isolated")
    func layer() async throws {
        for conditions in [[], ["MAIN_ACTOR_PROPERTIES"]] {
            try await withModules(conditions) { modules in
                let messages = try await modules.check(StandInModules.layer())
                #expect(messages.isEmpty, "\(messages)")
            }
        }
    }

    @Test("An app that imports only RealmSwift and SwiftUI sees every wrapper", arguments: ["5", "6"])
    func example(languageMode: String) async throws {
        try await withModules { modules in
            let messages = try await modules.checkExample(languageMode: languageMode)
            #expect(messages.isEmpty, "\(messages)")
        }
    }

    @Test("A type error in the layer is reported, so the layer isn't just skipped")
    func error() async throws {
        try await withModules { modules in
            let wrong = try modules.write(
                """
                #if canImport(SwiftUI)
                    func wrong() -> Int { RealmConfigurationKey.defaultValue }
                #endif
                """, as: "Wrong.swift")
            let messages = try await modules.check(StandInModules.layer() + [wrong])
            #expect(messages.contains("Wrong.swift:2"))
            #expect(messages.contains("to return type 'Int'"))
        }
    }
}
