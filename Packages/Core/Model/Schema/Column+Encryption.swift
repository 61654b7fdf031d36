extension Column {
    /// Refuses an encrypted property. Stores see only its encrypted bytes, so they can neither compare nor sort its values.
    /// - Throws: ``ValueError`` for an encrypted property.
    package func requireComparable(in className: String) throws(ValueError) {
        guard isEncrypted else { return }
        throw ValueError(
            "\(className).\(name) is encrypted and can't be used in queries, sorts or distinct. Compare its values in "
                + "Swift, or store values you query in an unencrypted property.")
    }
}
