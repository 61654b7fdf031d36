/// Everything that the input files declare: which classes are models, what these ignore, and which enumerations
/// exist.
struct ModelIndex {
    enum Root: String {
        case object = "Object"
        case embedded = "EmbeddedObject"
        case asymmetric = "AsymmetricObject"
    }

    enum Resolution: Equatable {
        case found(TypeID)
        /// There are several declarations of the name, and not exactly one in the same file.
        case ambiguous
        case unknown
    }

    /// Superclasses beyond this many aren't followed.
    static let maximumAncestry = 64

    /// The declarations of one name. In most programs there is only one.
    private struct Declarations {
        var count = 0
        /// By file: its declaration, or nil if the file has several.
        var ofFile: [Int: TypeID?] = [:]
        /// The superclasses of these declarations.
        var superclasses: Set<String> = []
    }

    let files: [ParsedFile?]
    private var plain: Set<TypeID> = []
    private var byPath: [[String]: Declarations] = [:]
    private var superclasses: [TypeID: TypeID] = [:]
    private var aliases: [String: String] = [:]
    private(set) var models: [TypeID: Root] = [:]
    /// Classes whose superclass has more than one declaration.
    private(set) var ambiguous: Set<TypeID> = []
    /// Names of models, without the names of enclosing types.
    private(set) var modelNames: Set<String> = []

    init(_ files: [ParsedFile?]) {
        self.files = files
        for (file, parsed) in files.enumerated() {
            guard let parsed else { continue }
            for (type, declaration) in parsed.types.enumerated() where declaration.kind != .extension {
                var declarations = byPath[declaration.path] ?? Declarations()
                declarations.count += 1
                declarations.ofFile[file] = .some(
                    declarations.ofFile[file] == nil ? TypeID(file: file, type: type) : nil)
                declarations.superclasses.insert(declaration.inherited.first?.name ?? "")
                byPath[declaration.path] = declarations
            }
            noteAliases(parsed.source)
        }
        for (file, parsed) in files.enumerated() {
            guard let parsed else { continue }
            for (type, declaration) in parsed.types.enumerated() where declaration.kind == .class {
                noteSuperclass(TypeID(file: file, type: type), declaration)
            }
        }
        for (file, parsed) in files.enumerated() {
            guard let parsed else { continue }
            for (type, declaration) in parsed.types.enumerated() where declaration.kind == .class {
                classify(TypeID(file: file, type: type))
            }
        }
        modelNames = Set(models.keys.compactMap { self[$0]?.name })
    }

    subscript(_ id: TypeID) -> TypeDeclaration? { files[id.file]?.types[id.type] }

    func isModel(_ id: TypeID) -> Bool { models[id] != nil }

    /// The declaration that a dotted name refers to in a scope: the innermost match.
    func resolve(_ name: String, in scope: [String], file: Int) -> Resolution {
        let parts = name.split(separator: ".").map(String.init)
        for count in stride(from: scope.count, through: 0, by: -1) {
            guard let found = byPath[Array(scope.prefix(count)) + parts] else { continue }
            if found.count == 1, let only = found.ofFile.first?.value { return .found(only) }
            if let own = found.ofFile[file] ?? nil { return .found(own) }
            return .ambiguous
        }
        return .unknown
    }

    /// The superclass, if the input declares it.
    func superclass(of id: TypeID) -> TypeID? { superclasses[id] }

    private mutating func noteSuperclass(_ id: TypeID, _ type: TypeDeclaration) {
        guard let name = type.inherited.first?.name,
            case .found(let parent) = resolve(expanded(name), in: type.scope, file: id.file), parent != id,
            self[parent]?.kind == .class
        else { return }
        superclasses[id] = parent
    }

    /// The class and its superclasses that the input declares, innermost first.
    func ancestry(of id: TypeID) -> [TypeID] {
        var result = [id]
        var seen: Set = [id]
        while result.count < Self.maximumAncestry, let parent = superclass(of: result[result.count - 1]),
            seen.insert(parent).inserted
        {
            result.append(parent)
        }
        return result
    }

    /// The class that an extension extends, or the declaration itself.
    func owner(of id: TypeID) -> TypeID? {
        guard let type = self[id] else { return nil }
        guard type.kind == .extension else { return id }
        guard case .found(let owner) = resolve(type.name, in: type.scope, file: id.file) else { return nil }
        return owner
    }

    /// The enumeration that a dotted name refers to.
    func enumeration(_ name: String, in scope: [String], file: Int) -> TypeID? {
        guard case .found(let id) = resolve(expanded(name), in: scope, file: file), self[id]?.kind == .enum else {
            return nil
        }
        return id
    }

    // MARK: Classes

    private mutating func classify(_ id: TypeID) {
        var chain: [TypeID] = []
        var seen: Set<TypeID> = []
        var current = id
        var root: Root?
        while seen.insert(current).inserted {
            if let known = models[current] {
                root = known
                break
            }
            if plain.contains(current) { break }
            chain.append(current)
            guard let type = self[current], let name = type.inherited.first?.name else { break }
            let target = expanded(name)
            switch resolve(target, in: type.scope, file: current.file) {
            case .found(let parent) where self[parent]?.kind == .class && parent != current:
                current = parent
                continue
            case .ambiguous:
                let all = (byPath[[target]]?.superclasses ?? []).prefix(Self.maximumAncestry).map(Self.root)
                if let first = all.first, let shared = first, all.allSatisfy({ $0 == shared }) {
                    root = shared
                } else {
                    ambiguous.insert(current)
                }
            case .found, .unknown: root = Self.root(target)
            }
            break
        }
        guard let root else { return plain.formUnion(chain) }
        for id in chain { models[id] = root }
    }

    private static func root(_ name: String) -> Root? {
        let prefixes = ["RealmSwift.", "Tombolo."]
        let plain = prefixes.first { name.hasPrefix($0) }.map { String(name.dropFirst($0.count)) } ?? name
        return plain == "RealmSwiftObject" ? .object : Root(rawValue: plain)
    }

    // MARK: Type aliases

    /// Records a top-level `typealias Model = Object`, so that models can inherit from it.
    private mutating func noteAliases(_ source: SourceText) {
        var token = 0
        while token < source.tokens.count {
            if source.isToken(token, "typealias"), let name = source.name(token + 1), source.isToken(token + 2, "="),
                var target = source.name(token + 3)
            {
                var end = token + 4
                while source.isToken(end, "."), let part = source.name(end + 1) {
                    target += "." + part
                    end += 2
                }
                if source.startsLine(end) || source.isToken(end, ";") { aliases[name] = target }
            }
            token = source.next(token)
        }
    }

    /// The name behind type aliases, following a limited number of steps.
    private func expanded(_ name: String) -> String {
        var name = name
        for _ in 0..<8 {
            guard let target = aliases[name] else { break }
            name = target
        }
        return name
    }
}
