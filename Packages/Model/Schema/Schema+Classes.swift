extension Schema {
    /// The schema of model classes and of every class that they link to.
    /// - Throws: ``SchemaError`` listing every problem.
    public static func of(_ types: [Object.Type]) throws(SchemaError) -> Schema {
        try Schema(modelClasses(reachableFrom: types).map { ObjectClass.of($0).schema })
    }

    /// The given classes and all that their links, lists and embedded objects lead to, each once. Embedded classes are
    /// not among them.
    package static func modelClasses(reachableFrom types: [Object.Type]) -> [Object.Type] {
        var seen: Set<ObjectIdentifier> = []
        var result: [Object.Type] = []
        var waiting: [ObjectBase.Type] = types
        while let type = waiting.popLast() {
            guard seen.insert(ObjectIdentifier(type)).inserted else { continue }
            if let type = type as? Object.Type { result.append(type) }
            waiting.append(contentsOf: ObjectClass.of(type).targets)
        }
        return result
    }
}
