import ChildPrograms
import Foundation
import Testing

/// Guards the architecture of docs/ARCHITECTURE.md: the folders of `Packages/` are layers, and imports point down.
/// SwiftPM rejects cycles between targets, but knows no layers and doesn't notice an import that builds only because
/// another target happens to be built first.
@Suite struct ModuleGraphTests {
    /// The layers that each layer may import from.
    static let layers: [String: Set<String>] = [
        "Core": ["Core"],
        "Network": ["Network"],
        "Device": ["Core", "Network", "Device"],
        "Server": ["Core", "Network", "Server"],
        "Tools": ["Core", "Server", "Tools"],
        // The event platform is an app like any other, so nothing else may import it.
        "Conference": ["Core", "Server", "Tools", "Conference"],
    ]

    /// The modules outside the core that the pure core may import: no sockets, files or clocks.
    static let coreModules: Set<String> = [
        "Darwin", "DequeModule", "Foundation", "FoundationEssentials", "ObjectiveC", "Swift", "SwiftProtobuf",
        "Synchronization",
        "Yams",
    ]

    /// Modules of the toolchain or the system.
    static let systemModules: Set<String> = [
        "CDispatch", "Combine", "Darwin", "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "ObjectiveC",
        "Swift", "SwiftUI", "Security", "Synchronization", "System",
    ]

    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test("Imports point down: a layer imports only from itself and the layers below it")
    func importsPointDown() async throws {
        let layerOfModule = Dictionary(
            uniqueKeysWithValues: try await Self.targets().compactMap { target in target.layer.map { (target.name, $0) }
            })
        var problems: [String] = []
        for target in try await Self.targets() {
            guard let layer = target.layer else { continue }
            guard let below = Self.layers[layer] else {
                problems.append("Packages/\(layer) is not a layer that this test knows: say what it may import.")
                continue
            }
            for (file, module) in try target.imports() {
                if let imported = layerOfModule[module], !below.contains(imported) {
                    problems.append("\(file) of layer \(layer) imports \(module), which is in layer \(imported).")
                } else if layer == "Core", layerOfModule[module] == nil, !Self.coreModules.contains(module) {
                    problems.append("\(file) imports \(module), but the pure core does no I/O.")
                }
            }
        }
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    @Test("Nothing outside the conference names its model classes: neither the libraries nor the other apps")
    func conferenceIsAnAppLikeAnyOther() throws {
        var problems: [String] = []
        for folder in ["Packages", "Apps"] {
            let files = FileManager.default.enumerator(
                at: Self.root.appending(path: folder), includingPropertiesForKeys: nil)
            for case let file as URL in files ?? FileManager.DirectoryEnumerator() where file.pathExtension == "swift" {
                let path = file.pathComponents.dropFirst(Self.root.pathComponents.count).joined(separator: "/")
                guard !path.hasPrefix("\(folder)/Conference/") else { continue }
                let text = try String(contentsOf: file, encoding: .utf8)
                if text.contains("EventModels") { problems.append("\(path) names EventModels.") }
            }
        }
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    @Test("Every imported module is a dependency of the target in Package.swift")
    func importsAreDeclared() async throws {
        var problems: [String] = []
        for target in try await Self.targets() {
            let known = target.dependencies.union(Self.systemModules)
            for (file, module) in try target.imports() where !known.contains(module) && module != "Testing" {
                problems.append("\(file) imports \(module), which Package.swift doesn't list for \(target.name).")
            }
        }
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    /// Names that two modules need: Realm's `User` is an account, the event platform's is a model class.
    static let sharedNames: Set<String> = ["User"]

    @Test("A name means one thing: no two modules declare types with the same name")
    func namesAreUnique() async throws {
        let declaration =
            /^(?:@\w+(?:\(.*?\))? )*(?:(?:public|package|open|final|indirect) )*(?:struct|class|enum|protocol|actor) (\w+)/
        var modules: [String: Set<String>] = [:]
        for target in try await Self.targets() where target.layer != nil {
            for file in try target.files() {
                for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                    guard let match = line.prefixMatch(of: declaration) else { continue }
                    modules[String(match.1), default: []].insert(target.name)
                }
            }
        }
        let problems = modules.filter { $1.count > 1 && !Self.sharedNames.contains($0) }
        #expect(problems.isEmpty, "\(problems.map { "\($0) is declared in \($1.sorted())" }.joined(separator: "\n"))")
    }

    /// As in Realm, identifiers and default values of objects may be random or the current time. Everything else is
    /// passed as a parameter.
    @Test("The pure core uses neither a clock nor randomness")
    func coreIsDeterministic() async throws {
        let forbidden = ["Date()", "ContinuousClock", "SystemRandomNumberGenerator", "FileManager", "Task.sleep"]
        let exceptions = ["ObjectId.swift", "Persistable+Date.swift"]
        var problems: [String] = []
        for target in try await Self.targets() where target.layer == "Core" {
            for file in try target.files() where !exceptions.contains(file.lastPathComponent) {
                let text = try String(contentsOf: file, encoding: .utf8)
                for word in forbidden where text.contains(word) {
                    problems.append("\(file.lastPathComponent) of \(target.name) uses \(word).")
                }
            }
        }
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    // MARK: The package

    /// A target as Package.swift declares it.
    struct Target {
        let name: String
        let path: URL
        let dependencies: Set<String>
        /// The folder of `Packages/` that contains it, or nil for apps and tests.
        let layer: String?

        func files() throws -> [URL] {
            guard let files = FileManager.default.enumerator(at: path, includingPropertiesForKeys: nil) else {
                return []
            }
            return files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        }

        /// Each import with its file's name.
        func imports() throws -> [(file: String, module: String)] {
            try files().flatMap { file in
                try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap { line in
                    Target.importedModule(String(line)).map { ("\(name)/\(file.lastPathComponent)", $0) }
                }
            }
        }

        private static func importedModule(_ line: String) -> String? {
            var words = line.split(separator: " ").map(String.init)
            while let first = words.first, first.hasPrefix("@") || ["public", "package", "internal"].contains(first) {
                words.removeFirst()
            }
            let kinds = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
            if words.count == 3, kinds.contains(words[1]) { words.remove(at: 1) }
            guard words.first == "import", words.count == 2 else { return nil }
            return words[1].split(separator: ".").first.map(String.init)
        }
    }

    private static let loaded = Task { try await load() }

    private static func targets() async throws -> [Target] { try await loaded.value }

    /// Asks SwiftPM, using a separate scratch folder, since the test runner may hold the lock of the usual one.
    private static func load() async throws -> [Target] {
        let scratch = FileManager.default.temporaryDirectory.appending(path: "tombolo-manifest-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: scratch) }
        let description = try await ProgramRun(
            URL(fileURLWithPath: "/usr/bin/env"),
            ["swift", "package", "--package-path", root.path(), "--scratch-path", scratch.path(), "dump-package"]
        ).outcome()
        let manifest = try JSONDecoder().decode(Manifest.self, from: Data(description.output.utf8))
        return manifest.targets.filter { $0.type != "system" }.compactMap { target in
            guard let path = target.path else { return nil }
            let folders = path.split(separator: "/").map(String.init)
            return Target(
                name: target.name, path: root.appending(path: path),
                dependencies: Set(target.dependencies.compactMap(\.name)),
                layer: folders.first == "Packages" && folders.count > 1 ? folders[1] : nil)
        }
    }

    /// The part of SwiftPM's package description that these tests need.
    private struct Manifest: Decodable {
        struct Target: Decodable {
            let name: String
            let type: String
            let path: String?
            let dependencies: [Dependency]
        }

        /// `{"byName": ["Name", null]}` or `{"product": ["Name", "package", null, null]}`.
        struct Dependency: Decodable {
            let name: String?

            init(from decoder: any Decoder) throws {
                let kinds = try decoder.singleValueContainer().decode([String: [Part]].self)
                name = kinds.values.first?.first?.text
            }
        }

        struct Part: Decodable {
            let text: String?

            init(from decoder: any Decoder) throws { text = try? decoder.singleValueContainer().decode(String.self) }
        }

        let targets: [Target]
    }
}
