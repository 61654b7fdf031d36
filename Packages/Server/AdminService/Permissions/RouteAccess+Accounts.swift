import Hummingbird
package import TomboloHTTP
package import TomboloRules
package import TomboloServerModel
import TomboloLocalization

/// Permission to see accounts, or to change those that ``AccountAuthority`` allows.
package struct AccountsGrant: Sendable {
    package let subject: Subject
    /// The model that the decision was based on.
    package let model: ServerModel

    /// Whether the caller may also change some accounts.
    package var mayManage: Bool { Self.isPermitted(subject, .manageAccounts, model) }

    /// Whether some app's matrix permits it.
    package static func isPermitted(
        _ subject: Subject, _ operation: TomboloRules.Operation, _ model: ServerModel
    ) -> Bool {
        model.matrices.keys.contains { model.refusal(subject, operation, ofMatrixOf: $0) == nil }
    }
}

extension RouteAccess where Grant == AccountsGrant {
    /// Access for callers whom at least one app's matrix permits to see accounts.
    package static func seeingAccounts(_ models: ServerModels) -> RouteAccess {
        accounts(.listAccounts, models, summary: localized("see accounts")) {
            localized("Not permitted: no role lets you see accounts.")
        }
    }

    /// Access for callers whom at least one app's matrix permits to change other users' accounts.
    /// ``AccountAuthority`` decides which accounts.
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
