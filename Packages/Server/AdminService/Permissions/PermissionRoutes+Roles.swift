import Foundation
import HTTPTypes
import Hummingbird
import TomboloHTTP
import TomboloRules
import TomboloServerModel

/// - `POST /admin/permissions/roles?app=`: adds a role, see ``RoleRequest``
/// - `PATCH /admin/permissions/roles/{name}?app=`: `{"name"}` renames it; everyone who has the role keeps it
/// - `DELETE /admin/permissions/roles/{name}?app=`: only while nobody has the role
///
/// All take `If-Match`, as for a box, and answer with the whole matrix.
extension PermissionRoutes {
    func addRoles(to routes: Routes) {
        routes.on(.post, "/admin/permissions/roles", access: .matrix(.update, of: models)) { request, context, grant in
            let version = try expectedVersion(request, grant)
            let wish = try await request.json(RoleRequest.self, context)
            return try await answer(try await change(wish.change, grant, at: version), grant.app, status: .created)
        }
        routes.on(.patch, "/admin/permissions/roles/{id}", access: .matrix(.update, of: models)) {
            request, context, grant in
            let version = try expectedVersion(request, grant)
            let wish = try await request.json(RoleRequest.NewName.self, context)
            let change = RoleChange.rename(try role(context), to: wish.name)
            return try await answer(try await self.change(change, grant, at: version), grant.app)
        }
        routes.on(.delete, "/admin/permissions/roles/{id}", access: .matrix(.update, of: models)) {
            request, context, grant in
            let version = try expectedVersion(request, grant)
            return try await answer(
                try await change(RoleChange.remove(role(context)), grant, at: version), grant.app)
        }
    }

    private func role(_ context: EdgeContext) throws -> String {
        guard let name = context.parameters.get("id")?.removingPercentEncoding else {
            throw RequestFailure(.notFound, "There is no role with this name.")
        }
        return name
    }

    private func change(_ change: RoleChange, _ grant: MatrixGrant, at version: Int64) async throws -> ServerModel {
        try await explained { try await models.change(change, of: grant.app, at: version, by: grant.subject) }
    }
}
