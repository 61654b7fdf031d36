/// Changes the models and rules of apps together with their tables, with the rights of the tables' owner. The roles
/// that servers connect as don't have these rights, so an implementation uses a database user of its own.
public protocol DocumentMigrations: Sendable {
    /// Plans an edit without changing anything.
    /// - Throws: ``DocumentEditError``, or `CancellationError`.
    func plan(_ edit: DocumentEdit) async throws -> DocumentPlan

    /// Applies an edit while no other migration runs. If the task is cancelled or the process ends, it stops;
    /// ``DocumentPlan/isAtomic`` says what remains then.
    /// - Parameters:
    ///   - fingerprint: the fingerprint of the confirmed plan. If the plan is a different one by now, nothing is
    ///     done.
    ///   - progress: called before each step with its name, its number counted from 1, and the number of steps.
    /// - Throws: ``DocumentEditError``, or `CancellationError`.
    func apply(
        _ edit: DocumentEdit, confirmed fingerprint: String,
        progress: @escaping @Sendable (_ step: String, _ place: Int, _ total: Int) -> Void
    ) async throws
}
