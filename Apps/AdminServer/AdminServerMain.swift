import AdminServing

/// `admin-server`, without any app's additions.
@main
struct AdminServerMain: AdminServerProgram {
    static let name = "admin-server"
}
