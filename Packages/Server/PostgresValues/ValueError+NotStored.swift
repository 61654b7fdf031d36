internal import TomboloModel

extension ValueError {
    /// The error for a type that no column has.
    init(notStored type: PropertyType) {
        self.init("No column has the type \(type.name). Ask the schema for the stored type.")
    }
}
