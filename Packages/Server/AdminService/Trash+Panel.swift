package import Foundation
import PostgresClient
package import TomboloHTTP
package import TomboloModel
package import TomboloRules

extension Trash {
    /// What ``wouldTake(along:_:)`` ends its transaction with.
    private struct Looked: Error { let counts: [String: Int] }

    /// What would go into the trash with an object: it's moved there, counted and put back, so that the answer is the
    /// database's own.
    /// - Returns: the number of objects by the names of their classes, the object itself among them.
    /// - Throws: `RequestFailure`: 404 if it's gone or in the trash by now, 409 if too much belongs to it.
    package func wouldTake(along className: String, _ key: Value) async throws -> [String: Int] {
        do {
            return try await pool.transaction { connection -> [String: Int] in
                let group = try await trash(className, key, by: nil, on: connection)
                let members = try await members(of: .group(group.id), connection)
                throw Looked(counts: Dictionary(members.map { ($0.className, 1) }, uniquingKeysWith: +))
            }
        } catch let looked as Looked {
            return looked.counts
        }
    }

    /// Restores everything that was trashed together.
    /// - Returns: how many objects that are.
    /// - Throws: `RequestFailure`, as a restore through `POST /admin/trash/{id}/restore`.
    package func restore(group: UUID, by subject: Subject, under rules: Rules) async throws -> Int {
        try await restore(.group(group), RestoreWishes(all: ()), by: Restorer(subject: subject, rules: rules)).count
    }

    /// Whether the rules may let somebody restore objects of a class, as far as it depends on no object.
    package static func mayRestore(_ subject: Subject, _ className: String, under rules: Rules) -> Bool {
        guard let index = rules.schema.index(of: className) else { return false }
        return [.restore, .listTrash].allSatisfy { rules.refusal(subject, $0, ofClassAt: index) == nil }
    }

    /// Asks the rules whether somebody may restore objects of any class with a trash, as the trash's own routes do.
    package static func restoring(by rules: LiveRules) -> RouteAccess<ClassesGrant> {
        let what = "objects of a class with a trash"
        let names: @Sendable (Schema) -> [String] = { classes(of: $0).map(\.name) }
        return .objects(.restore, ofAny: what, names, by: rules)
            .and(.objects(.listTrash, ofAny: what, names, by: rules))
    }
}

extension RestoreWishes {
    /// No wishes: everything is restored as it was.
    init(all: Void) {}
}
