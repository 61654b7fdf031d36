import Foundation
import PostgresClient
import Synchronization
import Testing
import TomboloModel
import TomboloSyncClient

@testable import Tombolo

/// An app whose trigger makes the creator of a team its lead. A device fills the team before it has received that
/// change.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct FirstOwnerTests {
    final class LedTeam: Object {
        @Persisted(primaryKey: true) var _id: ObjectId
        @Persisted var creator: ObjectId
    }

    final class LedMembership: Object {
        @Persisted(primaryKey: true) var _id: ObjectId
        @Persisted var user: ObjectId
        @Persisted var role: String
        @Persisted(onDelete: .cascade) var team: LedTeam?
    }

    final class LedItem: Object {
        @Persisted(primaryKey: true) var _id: ObjectId
        @Persisted var title: String
        @Persisted var team: LedTeam?
    }

    private static let rules = """
        grants: {class: LedMembership, user: user, role: role, scope: team, roles: [lead]}
        LedTeam:
          - name: everybody
            applyWhen: {}
            read: {$or: [{creator: "%%user.id"}, {_id: {$in: "%%user.grants.lead"}}]}
            create: {creator: "%%user.id"}
        LedMembership: [{name: everybody, applyWhen: {}, read: {user: "%%user.id"}}]
        LedItem:
          - name: everybody
            applyWhen: {}
            read: {team: {$in: "%%user.grants.lead"}}
            write: {team: {$in: "%%user.grants.lead"}}
        """

    private static let trigger = """
        CREATE FUNCTION led_first() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
            INSERT INTO public.led_membership (_id, "user", role, team) VALUES (NEW._id, NEW.creator, 'lead', NEW._id);
            RETURN NULL; END $$;
        CREATE TRIGGER led_first AFTER INSERT ON led_team FOR EACH ROW EXECUTE FUNCTION led_first()
        """

    private final class Failures: Sendable {
        let texts = Mutex<[String]>([])
    }

    @Test("a device adds to what it creates, in the same transaction and right after it")
    func sameUpload() async throws {
        try await AnyAppServer.with { server in try await addToNewTeam(server) }
    }

    @MainActor
    private func addToNewTeam(_ server: AnyAppServer) async throws {
        let document = try ModelDocument(
            app: "led", objectTypes: [LedTeam.self, LedMembership.self, LedItem.self])
        try await server.apply([(document, Self.rules)])
        try await server.pool.execute(Self.trigger)
        try await server.gateway.start()
        let failures = Failures()
        let app = App(
            id: "led", configuration: .init(baseURL: await server.gateway.url, rootDirectory: server.folder))
        app.syncManager.errorHandler = { error, _ in
            if (error as? SyncError)?.isOfSlowOpening == true { return }
            failures.texts.withLock { $0.append("\(error)") }
        }
        let user = try await app.login(credentials: .accessToken(try await server.user("ann").token))
        let id = try ObjectId(string: user.id)
        var configuration = user.flexibleSyncConfiguration()
        configuration.fileURL = server.folder.appending(path: "led.sqlite")
        configuration.objectTypes = [LedTeam.self, LedMembership.self, LedItem.self]
        let realm = try await Realm.open(configuration: configuration)
        let subscriptions = realm.subscriptions
        try await subscriptions.update {
            subscriptions.append(QuerySubscription<LedTeam>(name: "teams"))
            subscriptions.append(QuerySubscription<LedItem>(name: "items"))
        }
        let team = try realm.write {
            let team = realm.create(LedTeam.self, value: ["_id": ObjectId.generate(), "creator": id])
            realm.create(
                LedItem.self, value: ["_id": ObjectId.generate(), "title": "same", "team": team] as [String: Any])
            return team
        }
        try realm.write {
            realm.create(
                LedItem.self, value: ["_id": ObjectId.generate(), "title": "next", "team": team] as [String: Any])
        }
        try await realm.syncSession?.waitForUpload()
        let items = try await server.pool.query("SELECT title FROM led_item ORDER BY title")
        #expect(try items.map { try $0[0].string } == ["next", "same"])
        #expect(failures.texts.withLock { $0 } == [])
        try await realm.syncSession?.waitForDownload()
        realm.refresh()
        #expect(realm.objects(LedItem.self).count == 2)
    }
}
