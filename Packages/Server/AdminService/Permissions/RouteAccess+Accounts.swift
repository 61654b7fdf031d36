import Hummingbird
package import TomboloHTTP
package import TomboloRules
package import TomboloServerModel
import TomboloLocalization

/// Leave to see accounts, or to change those that ``AccountAuthority`` leaves.
package struct AccountsGrant: Sendable {
    package let subject: Subject
    /// That the decision was made by.
    package let model: ServerModel

    /// Whether some accounts may be changed, too.
    package var mayManage: Bool { Self.isPermitted(subject, .manageAccounts, model) }

    /// Whether the matrix of some app permits it.
    package static func isPermitted(
        _ subject: Subject, _ operation: TomboloRules.Operation, _ model: ServerModel
    ) -> Bool {
        model.matrices.keys.contains { model.refusal(subject, operation, ofMatrixOf: $0) == nil }
    }
}

extension RouteAccess where Grant == AccountsGrant {
    /// For those whom the matrix of at least one app permits to see accounts.
    package static func seeingAccounts(_ models: ServerModels) -> RouteAccess {
        accounts(.listAccounts, models, summary: localized("see accounts")) {
            localized("Not permitted: no role lets you see accounts.")
        }
    }

    /// For those whom the matrix of at least one app permits to change accounts of others. Whose is decided by
    /// ``AccountAuthority``.
    package static func changingAccounts(_ models: ServerModels) -> RouteAccess {
        accounts(.manageAccounts, models, summary: localized("change accounts")) {
            localized("Not permitted: no role lets you change accounts.")
        }
    }

    private static func accounts(
        _ operation: TomboloRules.Operation, _ models: ServerModels,
        summary: @autoclosure @escaping @Sendable () -> String,
        _ refusal: @escaping @Sendable () -> String
    ) -> RouteAccess {
        RouteAccess(
            summary: summary(),
            forecast: { AccountsGrant.isPermitted($0, operation, models.current) ? .allowed : .refused },
            decide: { subject, _, _ in
                let model = models.current
                guard AccountsGrant.isPermitted(subject, operation, model) else {
                    throw RequestFailure(.forbidden, refusal())
                }
                return AccountsGrant(subject: subject, model: model)
            }
        ).opened(by: .matrix(operation))
    }
}
