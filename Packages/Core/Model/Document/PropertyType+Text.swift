extension PropertyType {
    /// The maximum nesting of types: `array<array<int>>` has depth 2.
    static let maximumTextDepth = 16

    /// The types that documents write as a single word.
    static let words: [String: PropertyType] = {
        let types: [PropertyType] = [
            .bool, .int(bits: 8), .int(bits: 16), .int(bits: 32), .int(bits: 64), .float, .double, .string, .data,
            .date, .objectId, .uuid, .decimal128,
        ]
        return Dictionary(uniqueKeysWithValues: types.map { ($0.name, $0) })
    }()

    /// The words that can precede `<`.
    static let generics = ["array", "embedded", "link", "list"]

    /// Parses what ``name`` produces, and whether a `?` follows. Returns nil for anything else.
    package static func parse(_ text: String) -> (type: PropertyType, isOptional: Bool)? {
        guard text.utf8.count <= ModelDocument.maximumByteCount else { return nil }
        return parse(text[...], depth: 0)
    }

    private static func parse(_ text: Substring, depth: Int) -> (type: PropertyType, isOptional: Bool)? {
        guard depth < maximumTextDepth else { return nil }
        let isOptional = text.last == "?"
        let text = isOptional ? text.dropLast() : text
        if let type = words[String(text)] { return (type, isOptional) }
        guard text.last == ">", let open = text.firstIndex(of: "<") else { return nil }
        let inside = text[text.index(after: open)...].dropLast()
        switch text[..<open] {
        case "link" where isName(inside): return (.link(to: String(inside)), isOptional)
        case "embedded" where isName(inside): return (.embedded(String(inside)), isOptional)
        case "list":
            guard let element = parse(inside, depth: depth + 1), !isOptional else { return nil }
            switch element.type {
            case .list, .array, .linkingObjects: return nil
            case .link, .embedded: return element.isOptional ? nil : (.list(element.type, isOptional: false), false)
            default: return (.list(element.type, isOptional: element.isOptional), false)
            }
        case "array":
            guard !isOptional else { return nil }
            var types: [PropertyType] = []
            for part in parts(inside) {
                guard let element = parse(part, depth: depth + 1), !element.isOptional else { return nil }
                if case .list = element.type { return nil }
                types.append(element.type)
            }
            return (.array(types), false)
        default: return nil
        }
    }

    private static func isName(_ text: Substring) -> Bool {
        !text.isEmpty && !text.contains { "<>,?".contains($0) }
    }

    /// Splits at the commas that aren't inside `<` and `>`.
    private static func parts(_ text: Substring) -> [Substring] {
        var result: [Substring] = []
        var depth = 0
        var start = text.startIndex
        for index in text.indices {
            switch text[index] {
            case "<": depth += 1
            case ">": depth -= 1
            case "," where depth == 0:
                result.append(text[start..<index])
                start = text.index(after: index)
            default: break
            }
        }
        return text.isEmpty ? [] : result + [text[start...]]
    }
}

extension PropertyType {
    /// The type with each class name replaced.
    func mapClassNames(_ name: (String) -> String) -> PropertyType {
        switch self {
        case .link(let target): .link(to: name(target))
        case .embedded(let target): .embedded(name(target))
        case .linkingObjects(let origin): .linkingObjects(name(origin))
        case .array(let types): .array(types.map { $0.mapClassNames(name) })
        case .list(let element, let isOptional): .list(element.mapClassNames(name), isOptional: isOptional)
        case .bool, .int, .float, .double, .string, .data, .date, .objectId, .uuid, .decimal128: self
        }
    }
}

extension Schema {
    /// Whether a column has the given type, written as in ``Schema/canonicalText``: `link<Agent>?`. Previous class names are
    /// accepted too. The names of embedded classes don't matter, because their properties are columns themselves.
    public func isType(_ text: String, of column: Column) -> Bool {
        guard let described = PropertyType.parse(text), described.isOptional == column.isOptional else { return false }
        func plain(_ type: PropertyType) -> PropertyType {
            switch type {
            case .embedded: .embedded("")
            case .array(let types): .array(types.map(plain))
            default: type.mapClassNames { self[$0]?.name ?? $0 }
            }
        }
        return plain(described.type) == plain(column.type)
    }
}
