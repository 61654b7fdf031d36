extension FileRewriter {
    private static let rawTypes: Set<String> = [
        "Int", "Int8", "Int16", "Int32", "Int64", "String", "Double", "Float",
    ]

    mutating func rewriteEnumerations() {
        for (position, type) in parsed.types.enumerated() where type.kind == .enum || type.kind == .extension {
            for inherited in type.inherited where inherited.name == "RealmEnum" {
                replace(inherited.tokens, with: "PersistableEnum")
                counts.others += 1
            }
            let id = TypeID(file: file, type: position)
            if type.kind == .enum, facts.enumerations.contains(id) { rewrite(type, id) }
        }
    }

    private mutating func rewrite(_ type: TypeDeclaration, _ id: TypeID) {
        if let objc = type.head.attribute("objc") {
            remove(objc.tokens)
            counts.others += 1
        }
        let conforms =
            facts.conforming.contains(id)
            || type.inherited.contains { ["PersistableEnum", "RealmEnum"].contains($0.name) }
        if conforms { return }
        guard let last = type.inherited.last, let raw = type.inherited.first, Self.rawTypes.contains(raw.name) else {
            return report(
                .warning, at: type.nameToken, "\(type.name) is stored in a property, but has no raw value.",
                "Give it one ('enum \(type.name): Int, PersistableEnum'), or store something else.")
        }
        insert(", PersistableEnum", after: last.tokens.upperBound - 1)
        counts.enumerations += 1
    }
}
