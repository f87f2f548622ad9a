/** folkmoot: an embeddable community-network Admin API. The public surface; nothing is declared here. */
import './base/supported-runtime.ts'

export type { AuditAction, AuditSubjectType } from './audit-actions.ts'
export type { Clock } from './base/clock.ts'
export type { Metric, MetricSample } from './base/metric.ts'
export type { Span, SpanFacts, SpanStart, Tracing } from './base/tracing.ts'
export type { AboutRequest, CallOptions, Community, HostCalls, JoinedCommunity } from './community.ts'
export { createCommunity } from './community.ts'
export type { Principal } from './context.ts'
export type { AccessErrorBody, Failure } from './errors.ts'
export { ApiError, isApiError } from './errors.ts'
export type { CommittedEvent, EventOf, HostEventName, PayloadOf, WebhookEvent, WebhookName } from './events/catalogue.ts'
export type { Audit, AuditPage, AuditQuery, RelayRecord } from './host/audit/audit.ts'
export type { Actor, AuditEntry, AuditSubject } from './host/audit/line.ts'
export type { ConsumeOnce } from './host/consume-once.ts'
export type {
  Endpoint,
  EndpointChanges,
  EndpointCredentials,
  EndpointRotation,
  NewEndpoint,
  RegisteredEndpoint,
  RotatedEndpoint,
} from './host/endpoints/endpoint.ts'
export type { Endpoints } from './host/endpoints/endpoints.ts'
export type { ExportFilter, ExportQuery, ExportSubject, Exports } from './host/export/export.ts'
export type { PersonExports } from './host/export/person.ts'
export type { ExportPage, ExportRow } from './host/export/subject.ts'
export type { KeyListing, KeyPage, KeyQuery, Keys, NewKey } from './host/keys.ts'
export type { BanOptions, MemberActs, RemoveOptions } from './host/members/acts.ts'
export type { Bulk, BulkAct, BulkOptions, BulkReport } from './host/members/bulk.ts'
export type { ImportCounts, ImportMembers, ImportOptions, ImportRefusal, ImportReport, ImportRow } from './host/members/import.ts'
export type { AcceptInvite } from './host/members/invites.ts'
export type { MemberListing } from './host/members/listing.ts'
export type { Members } from './host/members/members.ts'
export type { Block, MemberProfile, TimelineEntry } from './host/members/profile.ts'
export type { MemberFilter, MemberPage, MemberQuery, MemberSelection } from './host/members/search.ts'
export type { NetworkChanges, NetworkPage, NetworkQuery, Networks, NewNetwork } from './host/networks.ts'
export type { HostNotification, NotificationInput } from './host/notifications/define.ts'
export type { Notify } from './host/notifications/index.ts'
export type { Overview, OverviewOf } from './host/overview.ts'
export type { Preview } from './host/preview.ts'
export type { Publication, Publish } from './host/publish.ts'
export type { ReportDecision, ReportListing, ReportQuery, Reports } from './host/reports.ts'
export type { MergedTags, TagListing, TagQuery, Tags } from './host/tags.ts'
export type { HttpResponse, Incoming } from './http/exchange.ts'
export type { InFlight } from './http/in-flight.ts'
export type { KeyTraffic, Traffic, TrafficHour } from './http/traffic.ts'
export type { Limits } from './limits.ts'
export type { AnyOperation } from './operation.ts'
export type { OperationBody, OperationId, OperationInput, OperationResult } from './operations.ts'
export type { BeforeHook, Hooks, Options } from './options.ts'
export { EncryptionError, isEncryptionError } from './outbox/encryption.ts'
export type {
  AssetStore,
  Download,
  Downloader,
  FileType,
  FileTypes,
  NewFile,
  PhoneNumbers,
  Ports,
  Recurrence,
  Series,
} from './ports.ts'
export type { FaultContext, HostPrincipal, RateCount, RateLimiter } from './settings.ts'
export type { RecordedChanges, RowCounts } from './storage/recorder.ts'
export type { EndpointRow, NetworkRow } from './storage/tables/administration.ts'
