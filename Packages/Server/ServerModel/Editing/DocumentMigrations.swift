/// Changes the models and rules of apps together with their tables, with the rights of the tables' owner. The roles
/// that servers connect as have no such rights; an implementation has a database user of its own.
public protocol DocumentMigrations: Sendable {
    /// What an edit would do. Changes nothing.
    /// - Throws: ``DocumentEditError``, or `CancellationError`.
    func plan(_ edit: DocumentEdit) async throws -> DocumentPlan

    /// Does it, alone: no other migration runs at the same time. In a cancelled task, or one that ends with its
    /// process, it stops; ``DocumentPlan/isAtomic`` says what is left then.
    /// - Parameters:
    ///   - fingerprint: of the plan that somebody has agreed to. Nothing is done by another one.
    ///   - progress: called before each step with its name, its place from 1, and their number.
    /// - Throws: ``DocumentEditError``, or `CancellationError`.
    func apply(
        _ edit: DocumentEdit, confirmed fingerprint: String,
        progress: @escaping @Sendable (_ step: String, _ place: Int, _ total: Int) -> Void
    ) async throws
}
