import TomboloModel

extension CallerView {
    /// Names of properties that describe an object, best first.
    private static let titleNames = [
        "title", "name", "displayName", "fullName", "label", "subject", "heading", "email", "identifier", "slug",
        "code", "key", "number",
    ]

    /// The property whose text represents an object: one of the usual names, or the first string that an object must
    /// have.
    /// - Returns: nil if the caller can see none.
    package func titleField(of type: ResourceType) -> ResourceField? {
        let texts = fields(of: type).filter { field in
            if case .value(_, .string) = field.content { true } else { false }
        }
        for name in Self.titleNames {
            if let found = texts.first(where: { $0.name == name }) { return found }
        }
        return texts.first { !$0.isOptional } ?? texts.first
    }
}
