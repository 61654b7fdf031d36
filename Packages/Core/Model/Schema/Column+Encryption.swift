extension Column {
    /// Refuses an encrypted property. Stores see only its encrypted bytes, so they can neither compare nor sort its values.
    /// - Throws: ``ValueError`` for an encrypted property.
    package func requireComparable(in className: String) throws(ValueError) {
        guard isEncrypted else { return }
        throw ValueError(
            "\(className).\(name) is encrypted, so that queries, sorts and distinct cannot look at it. Compare its "
                + "values in Swift, or keep what is to be queried in a property that is not encrypted.")
    }
}
