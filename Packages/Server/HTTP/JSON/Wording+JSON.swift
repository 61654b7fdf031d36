package import TomboloModel

/// Sends a wording to another of our servers, whose pages show it in their language: `{"pattern": "There is no {0}.",
/// "values": ["Note"]}`.
extension Wording {
    package var json: JSON {
        .object(["pattern": .string(pattern), "values": .array(values.map(\.json))])
    }

    /// - Returns: nil for JSON that isn't a wording.
    package init?(json: JSON?) {
        guard case .string(let pattern)? = json?["pattern"], case .array(let found)? = json?["values"] else {
            return nil
        }
        let values = found.compactMap { Part(json: $0) }
        guard values.count == found.count else { return nil }
        self.init(pattern: pattern, values: values)
    }
}

extension Wording.Part {
    fileprivate var json: JSON {
        switch self {
        case .text(let text): .string(text)
        case .name(let name, let context):
            .object(["name": .string(name), "context": context.map(JSON.string) ?? .null])
        case .wording(let wording): wording.json
        }
    }

    fileprivate init?(json: JSON) {
        if case .string(let text) = json {
            self = .text(text)
        } else if case .string(let name)? = json["name"] {
            var context: String?
            if case .string(let text)? = json["context"] { context = text }
            self = .name(name, context: context)
        } else if let wording = Wording(json: json) {
            self = .wording(wording)
        } else {
            return nil
        }
    }
}
