/// How one record refers to another. Real exports have references whose id and name belong to different records.
struct OpenEventReference: Hashable {
    let id: String?
    let name: String?

    init?(_ value: JSONValue) {
        switch value {
        case .int(let number): self.init(id: String(number), name: nil)
        case .string(let text):
            let text = text.trimmed
            if text.isEmpty { return nil }
            let isNumber = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            self.init(id: isNumber ? text : nil, name: isNumber ? nil : text)
        case .object(let members):
            var id: String?
            switch members["id"] {
            case .int(let number): id = String(number)
            case .string(let text): id = text.trimmed.isEmpty ? nil : text.trimmed
            default: break
            }
            var name: String?
            for key in ["name", "title"] {
                if case .string(let text) = members[key], !text.trimmed.isEmpty { name = name ?? text.trimmed }
            }
            if id == nil, name == nil { return nil }
            self.init(id: id, name: name)
        default: return nil
        }
    }

    private init(id: String?, name: String?) {
        self.id = id
        self.name = name
    }

    var summary: String {
        [id.map { "id \($0)" }, name.map { "name '\($0)'" }].compactMap { $0 }.joined(separator: " and ")
    }
}
