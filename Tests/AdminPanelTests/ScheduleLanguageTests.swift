import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloLocalization
import TomboloPostgresStore

@testable import AdminPanel

@Suite struct ScheduleLanguageTests {
    @Test("results of scheduled jobs are in the page's language, and the reason for a failure is in English")
    func results() async throws {
        try await ServiceFixture.with { fixture in
            let outcomes: [(Routine, Routine.Outcome)] = [
                (
                    .requestExpiry,
                    .done([StoredMessage(1, one: "\(1) request was deleted", other: "\(1) requests were deleted")])
                ),
                (
                    .changelogRetention,
                    .done([
                        StoredMessage("devices may be at tick \(7) or later"),
                        StoredMessage(2, one: "\(2) partition was dropped", other: "\(2) partitions were dropped"),
                    ])
                ),
                (.auditExpiry, .failed(RequestFailure(.unavailable, "the disk is full"))),
            ]
            for (routine, outcome) in outcomes {
                await routine.note(outcome, took: .zero, pause: .seconds(600), in: fixture.adminServer.pool)
            }
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                for (language, texts) in [
                    (
                        "en",
                        ["1 request was deleted", "devices may be at tick 7 or later, 2 partitions were dropped"]
                    ),
                    (
                        "de",
                        ["1 Anfrage gelöscht", "Geräte dürfen auf Tick 7 oder später stehen, 2 Partitionen gelöscht"]
                    ),
                    (
                        "fr",
                        [
                            "1 requête supprimée",
                            "les appareils peuvent en être au tick 7 ou après, 2 partitions supprimées",
                        ]
                    ),
                    (
                        "es",
                        [
                            "1 solicitud eliminada",
                            "los dispositivos pueden estar en el tick 7 o posterior, 2 particiones eliminadas",
                        ]
                    ),
                ] {
                    browser.setCookie("tombolo_language", language)
                    let page = try await browser.get("/panel/schedule").text
                    for text in texts + ["the disk is full"] { #expect(page.contains(text), "\(text): \(page)") }
                }
            }
        }
    }
}
