"""Small invented exports in each provider's column order, so that the tests need no other files.

EXPORTS maps a name to (bytes, kind that 'auto' must find). All values are made up; the tests show what they add up to.
"""

import json
from typing import Any


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


ANTHROPIC_USAGE = (
    "usage_date_utc,model_version,api_key,workspace,usage_type,context_window,usage_input_tokens_no_cache,"
    "usage_input_tokens_cache_write_5m,usage_input_tokens_cache_write_1h,usage_input_tokens_cache_read,usage_output_tokens,"
    "web_search_count,inference_geo,speed\n"
    "2026-06-01,claude-alpha-1,k,Default,standard,≤ 200k,1000,200,100,5000,300,0,not_available,\n"
    "2026-06-02,claude-alpha-1,k,Default,batch,≤ 200k,2000,0,0,0,400,0,not_available,\n"
).encode()

ANTHROPIC_COST = (
    "usage_date_utc,model,workspace,api_key,usage_type,context_window,token_type,cost_usd,list_price_usd,cost_type,inference_geo,"
    "speed,api_key_id,api_key_status\n"
    "2026-06-01,Claude Alpha 1,Default,k,message,≤ 200k,input_no_cache,1.25,1.50,token,not_available,,a,active\n"
    "2026-06-02,Claude Alpha 1,Default,k,message,≤ 200k,output,2.75,3.50,token,not_available,,a,active\n"
).encode()

ANTHROPIC_USAGE_API = _json({
    "data": [
        {"starting_at": "2026-06-01T00:00:00Z", "ending_at": "2026-06-01T01:00:00Z", "results": [
            {"uncached_input_tokens": 100, "cache_creation": {"ephemeral_1h_input_tokens": 30, "ephemeral_5m_input_tokens": 20},
             "cache_read_input_tokens": 850, "output_tokens": 60, "server_tool_use": {"web_search_requests": 1}, "api_key_id": None,
             "workspace_id": None, "model": "claude-alpha-1", "service_tier": "standard", "context_window": "0-200k"}]},
        {"starting_at": "2026-06-01T01:00:00Z", "ending_at": "2026-06-01T02:00:00Z", "results": []},
    ], "has_more": False, "next_page": None})

ANTHROPIC_COST_API = _json({
    "data": [{"starting_at": "2026-06-01T00:00:00Z", "ending_at": "2026-06-02T00:00:00Z", "results": [
        {"currency": "USD", "amount": "12345.678", "workspace_id": None, "description": "Claude Alpha 1 Usage - Input Tokens",
         "cost_type": "tokens", "context_window": "0-200k", "model": "claude-alpha-1", "service_tier": "standard",
         "token_type": "uncached_input_tokens"}]}], "has_more": True, "next_page": "p2"})

OPENAI_USAGE = (
    "start_time,end_time,start_time_iso,end_time_iso,project_id,num_model_requests,user_id,api_key_id,model,batch,service_tier,"
    "input_tokens,output_tokens,input_cached_tokens,input_audio_tokens,output_audio_tokens\n"
    "1780272000,1780358400,2026-06-01T00:00:00+00:00,2026-06-02T00:00:00+00:00,p,10,,,gpt-alpha,false,default,10000,500,4000,0,0\n"
    "1780358400,1780444800,2026-06-02T00:00:00+00:00,2026-06-03T00:00:00+00:00,p,5,,,gpt-alpha,true,default,2000,100,0,0,0\n"
    "1780444800,1780531200,2026-06-03T00:00:00+00:00,2026-06-04T00:00:00+00:00,,,,,,,,,,,,\n"
).encode()

OPENAI_USAGE_API = _json({"object": "page", "data": [
    {"object": "bucket", "start_time": 1780272000, "end_time": 1780275600, "results": [
        {"object": "organization.usage.completions.result", "input_tokens": 900, "input_cached_tokens": 300, "output_tokens": 90,
         "num_model_requests": 3, "model": "gpt-alpha"}]}], "has_more": False, "next_page": None})

OPENAI_COSTS = (
    "start_time,end_time,start_time_iso,end_time_iso,amount_value,amount_currency,quantity,quantity_unit,line_item,user_id,"
    "api_key_id,project_id,organization_id,project_name,organization_name,user_email,api_source\n"
    "1780272000,1780358400,2026-06-01T00:00:00,2026-06-02T00:00:00,1.5000000000000000000001,usd,,,,,,,o,,Org,,\n"
    "1780358400,1780444800,2026-06-02T00:00:00,2026-06-03T00:00:00,,,,,,,,,,,,,\n"
).encode()

OPENAI_COSTS_API = _json({"object": "page", "data": [
    {"object": "bucket", "start_time": 1780272000, "end_time": 1780358400, "results": [
        {"object": "organization.costs.result", "amount": {"value": 12.5, "currency": "usd"}, "line_item": None, "project_id": None}]},
    {"object": "bucket", "start_time": 1780358400, "end_time": 1780444800, "results": [
        {"object": "organization.costs.result", "amount": {"value": "6.25", "currency": "usd"}, "line_item": "gpt-alpha, output",
         "project_id": None}]},
    {"object": "bucket", "start_time": 1780444800, "end_time": 1780531200, "results": []}], "has_more": False})

OPENROUTER_DAILY = (
    "Date,Slug,Usage,BYOK Usage,Requests,Prompt Tokens,Completion Tokens,Reasoning Tokens\n"
    '"2026-06-01 00:00:00","maker/alpha","10.50","2","7","70000","3500","1500"\n'
    '"2026-06-02 00:00:00","maker/alpha:free","0","0","3","3000","300","0"\n'
).encode()

OPENROUTER_API = _json({"data": [
    {"date": "2026-06-01 00:00:00", "model": "maker/alpha", "model_permaslug": "maker/alpha-2026", "endpoint_id": "e", "provider_name": "P",
     "usage": 0.25, "byok_usage_inference": 0, "requests": 2, "prompt_tokens": 500, "completion_tokens": 50, "reasoning_tokens": 20}]})

OPENROUTER_GENERATIONS = (
    "generation_id,created_at,cost_total,cost_web_search,cost_cache,cost_file_processing,byok_usage_inference,tokens_prompt,"
    "tokens_completion,tokens_reasoning,tokens_cached,model_permaslug,provider_name,variant,cancelled,streamed\n"
    "gen-1,2026-06-01 10:00:00.123,0.01,0,-0.002,0,0,1000,100,40,600,maker/alpha,P,standard,false,true\n"
    "gen-2,2026-06-01 12:30:00.000,0.02,0,0,0,0,2000,200,0,0,maker/alpha,P,standard,false,true\n"
).encode()

LITELLM_DAILY = _json({"results": [{
    "date": "2026-06-01", "metrics": {"spend": 1.25, "prompt_tokens": 1000, "completion_tokens": 100, "cache_read_input_tokens": 400,
                                      "cache_creation_input_tokens": 0, "total_tokens": 1100, "api_requests": 10},
    "breakdown": {"models": {"gpt-alpha": {"metrics": {"spend": 1.0, "prompt_tokens": 700, "completion_tokens": 80,
                                                       "cache_read_input_tokens": 400, "cache_creation_input_tokens": 0,
                                                       "total_tokens": 780, "api_requests": 7}, "metadata": {}}}}}],
    "metadata": {"total_spend": 1.25}})

LITELLM_LOGS = (
    "request_id,call_type,api_key,spend,total_tokens,prompt_tokens,completion_tokens,startTime,endTime,model,model_group,"
    "custom_llm_provider,api_base,cache_hit,metadata,status\n"
    '1,acompletion,h,"1,234.50",1100,1000,100,2026-06-01T10:00:00Z,2026-06-01T10:00:05Z,gpt-alpha,g,openai,https://api.openai.com/v1,'
    'None,"{""additional_usage_values"": {""cache_read_input_tokens"": 250}}",success\n'
    "2,acompletion,h,0,550,500,50,2026-06-01T11:00:00Z,2026-06-01T11:00:05Z,qwen,g,hosted_vllm,http://10.0.0.5:8000/v1,None,{},success\n"
    "3,acompletion,h,0,110,100,10,2026-06-01T12:00:00Z,2026-06-01T12:00:05Z,gpt-alpha,g,openai,,True,{},success\n"
).encode()

LITELLM_EXPORT = (
    "Date,Team,Team ID,Model,Spend ($),Requests,Successful,Failed,Total Tokens,Prompt Tokens,Completion Tokens\n"
    '2026-06-01,core,t1,gpt-alpha,"1,234.56",100,99,1,"1,100","1,000",100\n'
).encode()

DEEPSEEK_USAGE = (
    "user_id,utc_date,model,api_key_name,api_key,type,price,amount\n"
    "u,20260601,deepseek-alpha,key,sk,input_cache_hit_tokens,0.0000001,1000\n"
    "u,20260601,deepseek-alpha,key,sk,input_cache_miss_tokens,0.000003,500\n"
    "u,20260601,deepseek-alpha,key,sk,output_tokens,0.000006,200\n"
    "u,20260601,deepseek-alpha,key,sk,request_count,,3\n"
).encode()

DEEPSEEK_COST = (
    "user_id,start_time_iso,end_time_iso,model,wallet_type,cost,currency\n"
    "u,2026-06-02T00:00:00+08:00,2026-06-03T00:00:00+08:00,deepseek-alpha,Paid,1.2345,CNY\n"
).encode()

LANGFUSE = (
    "id,traceId,type,name,startTime,endTime,providedModelName,usageDetails,costDetails,totalCost\n"
    'a,t,GENERATION,chat,2026-06-01T10:00:00.000Z,2026-06-01T10:00:02.000Z,gpt-alpha,"{""input"": 600, ""input_cached_tokens"": 400, '
    '""output"": 90, ""output_reasoning_tokens"": 10, ""total"": 1100}","{""total"": 0.5}",0.5\n'
    "b,t,SPAN,tool,2026-06-01T10:00:03.000Z,2026-06-01T10:00:04.000Z,,{},{},\n"
).encode()

LANGFUSE_DAILY = _json({"data": [{"date": "2026-06-01", "countTraces": 5, "countObservations": 9, "totalCost": 0.75, "usage": [
    {"model": "gpt-alpha", "inputUsage": 1000, "outputUsage": 100, "totalUsage": 1100, "countTraces": 5, "countObservations": 9,
     "totalCost": 0.75}]}], "meta": {"page": 1}})

HELICONE = (
    "request_id,request_created_at,response_status,request_model,response_model,provider,prompt_tokens,completion_tokens,total_tokens,"
    "prompt_cache_read_tokens,prompt_cache_write_tokens,costUSD\n"
    "1,2026-06-01T10:00:00Z,200,gpt-alpha,gpt-alpha,OPENAI,1000,100,1100,400,0,0.01\n"
    "2,2026-06-01T10:05:00Z,200,claude-alpha,claude-alpha,ANTHROPIC,200,50,,800,100,0.02\n"
).encode()

FOCUS_TOKENS = (
    "BilledCost,BillingCurrency,BillingPeriodEnd,BillingPeriodStart,ChargeCategory,ChargeDescription,ChargePeriodEnd,ChargePeriodStart,"
    "ConsumedQuantity,ConsumedUnit,EffectiveCost,ListCost,PricingQuantity,PricingUnit,ServiceCategory,ServiceName,ServiceProviderName,"
    "SkuId,SkuMeter,SkuPriceDetails\n"
    "10.00,USD,2026-07-01T00:00:00Z,2026-06-01T00:00:00Z,Usage,Input,2026-07-01T00:00:00Z,2026-06-01T00:00:00Z,5000000,Tokens,10.00,12.00,"
    '5,1000000 Tokens,AI and Machine Learning,Gen API,Maker,alpha-in,Input Tokens,"{""ModelId"":""alpha"",""TokenDirection"":""Input""}"\n'
    "2.00,USD,2026-07-01T00:00:00Z,2026-06-01T00:00:00Z,Usage,Cached,2026-07-01T00:00:00Z,2026-06-01T00:00:00Z,,,2.00,2.00,"
    '10,1000000 Tokens,AI and Machine Learning,Gen API,Maker,alpha-read,Cache Read Input Tokens,'
    '"{""ModelId"":""alpha"",""TokenCacheAction"":""Read"",""TokenDirection"":""Input""}"\n'
    "25.00,USD,2026-07-01T00:00:00Z,2026-06-01T00:00:00Z,Usage,Output,2026-07-01T00:00:00Z,2026-06-01T00:00:00Z,1000,1K Tokens,25.00,25.00,"
    '1,1000000 Tokens,AI and Machine Learning,Gen API,Maker,alpha-out,Output Tokens,"{""ModelId"":""alpha"",""TokenDirection"":""Output""}"\n'
    "99.00,USD,2026-07-01T00:00:00Z,2026-06-01T00:00:00Z,Usage,Disks,2026-07-01T00:00:00Z,2026-06-01T00:00:00Z,3,GB,99.00,99.00,"
    "3,GB,Storage,Disks,Maker,disk,Disk,\n"
).encode()

FOCUS_MONEY_TEXT = (
    "BilledCost,BillingCurrency,BillingPeriodEnd,BillingPeriodStart,ChargeCategory,ChargePeriodEnd,ChargePeriodStart,EffectiveCost,"
    "ListCost,ListUnitPrice,PricingQuantity,ProviderName,ServiceCategory,ServiceName\n"
    '"$50,000.00 ",USD,5/1/25,4/1/25,Usage,5/1/25,4/1/25,"$50,000.00 ","$50,000.00 ",$100.00 ,500,ACME,Business Applications,ACME Seats\n'
).encode()

AWS_CUR = (
    "identity/LineItemId,lineItem/LineItemType,lineItem/UsageStartDate,lineItem/UsageEndDate,lineItem/ProductCode,lineItem/UsageType,"
    "lineItem/UsageAmount,lineItem/CurrencyCode,lineItem/UnblendedCost,lineItem/LineItemDescription,product/ProductName,pricing/unit,"
    "pricing/publicOnDemandCost\n"
    "1,Usage,2026-06-01T00:00:00Z,2026-06-01T01:00:00Z,AmazonBedrock,USE1-Alpha-input-tokens,1500,USD,4.50,$0.003 per 1K input tokens,"
    "Amazon Bedrock,1K tokens,4.50\n"
    "2,Usage,2026-06-01T00:00:00Z,2026-06-01T01:00:00Z,AmazonBedrock,USE1-Alpha-output-tokens,100,USD,1.50,$0.015 per 1K output tokens,"
    "Amazon Bedrock,1K tokens,1.50\n"
    "3,Credit,2026-06-01T00:00:00Z,2026-06-01T01:00:00Z,AmazonBedrock,USE1-Alpha-input-tokens,,USD,-1.00,Promotion,Amazon Bedrock,,\n"
    "4,Usage,2026-06-01T00:00:00Z,2026-06-01T01:00:00Z,AmazonEC2,BoxUsage:p5.48xlarge,1,USD,98.32,per hour,Amazon EC2,Hrs,98.32\n"
).encode()

AWS_CUR2 = (
    "line_item_usage_start_date,line_item_usage_end_date,line_item_product_code,line_item_usage_type,line_item_usage_amount,"
    "line_item_currency_code,line_item_unblended_cost,line_item_line_item_description,product,pricing_unit\n"
    "2026-06-01 00:00:00.000,2026-06-01 01:00:00.000,abc123,USE1-MP:USE1_InputTokenCount-Units,2,USD,6.00,"
    'AWS Marketplace software usage|us-east-1|Million Input Tokens,"{""product_name"": ""Claude Alpha (Amazon Bedrock Edition)""}",Units\n'
).encode()

AZURE_COST = (
    "Date,MeterCategory,MeterSubCategory,MeterName,ConsumedService,ProductName,Quantity,UnitOfMeasure,CostInBillingCurrency,"
    "BillingCurrency,PaygCostInBillingCurrency\n"
    "06/13/2026,Foundry Models,Azure OpenAI,gpt alpha Inp glbl Tokens,Microsoft.CognitiveServices,Azure OpenAI,1500,1K,3.00,EUR,3.75\n"
    "06/13/2026,Foundry Models,Azure OpenAI,gpt alpha cchd Inp glbl Tokens,Microsoft.CognitiveServices,Azure OpenAI,500,1K,0.50,EUR,0.60\n"
    "06/14/2026,Foundry Models,Azure OpenAI,gpt alpha Outp glbl Tokens,Microsoft.CognitiveServices,Azure OpenAI,0.1,1M,1.00,EUR,1.25\n"
    "06/14/2026,Virtual Machines,ND,ND96 H100,Microsoft.Compute,VM,24,1 Hour,600.00,EUR,600.00\n"
).encode()

GCP_BILLING = (
    b'{"service":{"description":"Vertex AI"},"sku":{"description":"Alpha Pro Input Text Tokens"},"usage_start_time":"2026-06-01 00:00:00 UTC",'
    b'"usage_end_time":"2026-06-01 01:00:00 UTC","cost":5.0,"currency":"USD","usage":{"amount":4000000,"unit":"count"},'
    b'"credits":[{"name":"promo","amount":-1.5}],"cost_at_list":6.0}\n'
    b'{"service":{"description":"Compute Engine"},"sku":{"description":"A3 GPU"},"usage_start_time":"2026-06-01 00:00:00 UTC",'
    b'"usage_end_time":"2026-06-01 01:00:00 UTC","cost":80.0,"currency":"USD","usage":{"amount":3600,"unit":"seconds"},"credits":[]}\n'
)

AZURE_TRACE = (
    b"TIMESTAMP,ContextTokens,GeneratedTokens\r\n2026-06-01 18:00:00.0000000,1000,10\r\n2026-06-01 18:57:00.0000000,3000,30\r\n"
)

BURSTGPT = (
    b"Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,400,20,420,Conversation log\n"
    b"3605,GPT-4,600,80,680,Conversation log\n"
)

MOONCAKE = (
    b'{"timestamp": 0, "input_length": 1000, "output_length": 10, "hash_ids": [1, 2]}\n'
    b'{"timestamp": 36000, "input_length": 2000, "output_length": 20, "hash_ids": [1, 2, 3, 4]}\n'
    b'{"timestamp": 72000, "input_length": 500, "output_length": 30, "hash_ids": [9, 2]}\n'
)

GENERIC_GERMAN = (
    "Datum;Modell;Eingabe-Tokens;Ausgabe-Tokens;Anfragen;Kosten;Währung\r\n"
    "13.06.2026;alpha;1.234.567;12.345;100;1.234,56;EUR\r\n"
    "14.06.2026;alpha;1.000;55;10;0,44;EUR\r\n"
).encode("cp1252")

GENERIC = b"day,model,input_tokens,output_tokens,requests,cost_usd\n2026-06-01,alpha,1000,100,10,0.50\n2026-06-02,alpha,3000,300,30,1.50\n"

VLLM = _json({
    "date": "20260601-120000", "endpoint_type": "vllm", "backend": "vllm", "label": None, "model_id": "maker/alpha", "num_prompts": 100,
    "request_rate": "inf", "burstiness": 1.0, "max_concurrency": 16, "duration": 50.0, "completed": 100, "failed": 0,
    "total_input_tokens": 100000, "total_output_tokens": 20000, "request_throughput": 2.0, "output_throughput": 400.0,
    "total_token_throughput": 2400.0, "max_output_tokens_per_s": 950.0, "max_concurrent_requests": 20, "mean_ttft_ms": 500.0,
    "median_ttft_ms": 100.0, "mean_tpot_ms": 30.0, "median_tpot_ms": 10.0, "mean_itl_ms": 31.0, "mean_e2el_ms": 7500.0}
).replace(b'"burstiness": 1.0', b'"burstiness": Infinity')

SGLANG = _json({
    "backend": "sglang", "dataset_name": "random", "request_rate": None, "max_concurrency": 8, "duration": 20.0, "completed": 40,
    "total_input_tokens": 40000, "total_output_tokens": 10000, "total_output_tokens_retokenized": 9999, "request_throughput": 2.0,
    "input_throughput": 2000.0, "output_throughput": 500.0, "mean_e2e_latency_ms": 3500.0, "mean_ttft_ms": 200.0, "median_ttft_ms": 5.0,
    "mean_tpot_ms": 12.0, "concurrency": 7.0, "accept_length": 2.5}) + b"\n"

INFERENCEX = _json([{
    "hw": "b300", "tp": 8, "ep": 1, "dp_attention": "false", "conc": 64, "model": "maker/alpha", "framework": "sglang", "precision": "fp4",
    "isl": 8192, "osl": 1024, "tput_per_gpu": 900.0, "output_tput_per_gpu": 100.0, "mean_ttft": 2.5, "median_ttft": 1.0, "mean_tpot": 0.05,
    "median_tpot": 0.01, "mean_e2el": 53.0}])

INFERENCEX_CSV = (
    b"hw,framework,precision,disagg,num_prefill_gpu,num_decode_gpu,isl,osl,conc,tput_per_gpu,output_tput_per_gpu,input_tput_per_gpu,mean_tpot\n"
    b"gb200,dynamo,fp4,true,4,32,1024,1024,512,1000,562.5,4500,0.02\n"
)


def _dist(mean: float, count: int) -> dict[str, Any]:
    return {"successful": {"mean": mean, "median": mean * 9, "max": mean * 99, "count": count, "total_sum": mean * count}}


GUIDELLM_V1 = _json({"benchmarks": [{
    "args": {"strategy": {"type_": "concurrent", "streams": 4}}, "run_stats": {"start_time": 100.0, "end_time": 110.0,
                                                                              "requests_made": {"successful": 20, "errored": 1}},
    "worker": {"backend_model": "maker/alpha"}, "start_time": 100.0, "end_time": 110.0,
    "metrics": {"request_concurrency": _dist(3.8, 20), "prompt_token_count": _dist(500.0, 20), "output_token_count": _dist(100.0, 20),
                "output_tokens_per_second": _dist(180.0, 2000), "tokens_per_second": _dist(1100.0, 12000),
                "requests_per_second": _dist(1.9, 20), "time_to_first_token_ms": _dist(80.0, 20), "inter_token_latency_ms": _dist(15.0, 1980),
                "time_per_output_token_ms": _dist(16.0, 2000)}}]})

INFERENCE_PERF = _json({
    "load_summary": {"count": 100}, "failures": {"count": 0},
    "successes": {"count": 100, "latency": {"request_latency": {"mean": 4.0, "median": 1.0}, "time_per_output_token": {"mean": 0.025},
                                            "time_to_first_token": {"mean": 0.5, "max": 9.0}},
                  "throughput": {"input_tokens_per_sec": 2000.0, "output_tokens_per_sec": 400.0, "total_tokens_per_sec": 2400.0,
                                 "requests_per_sec": 2.0},
                  "prompt_len": {"mean": 1000.0}, "output_len": {"mean": 200.0}}})

LLMD_YAML = b"""version: '0.1'
scenario:
  model:
    name: maker/alpha
  host:
    accelerator:
    - count: 8
      model: H200
      parallelism:
        tp: 8
metrics:
  time:
    duration: 50.0
  requests:
    total: 100
    failures: 0
    input_length:
      units: count
      mean: 1000.0
    output_length:
      units: count
      mean: 200.0
  latency:
    time_to_first_token:
      units: ms
      mean: 500.0
    time_per_output_token:
      units: s/token
      mean: 0.025
  throughput:
    output_tokens_per_sec: 400.0
    total_tokens_per_sec: 2400.0
    requests_per_sec: 2.0
"""

LLMD_V02 = _json({
    "version": "0.2", "run": {"time": {"duration": "PT50S", "start": "2026-06-01T12:00:00Z"}},
    "scenario": {"load": {"standardized": {"tool": "vllm-benchmark", "concurrency": 16}}},
    "results": {"request_performance": {"aggregate": {
        "latency": {"time_to_first_token": {"mean": 0.5, "units": "s"}, "time_per_output_token": {"mean": 25.0, "units": "ms/token"}},
        "requests": {"total": 100, "failures": 0, "input_length": {"mean": 1000.0}, "output_length": {"mean": 200.0}},
        "throughput": {"output_token_rate": {"mean": 400.0, "units": "tokens/s"}, "total_token_rate": {"mean": 2400.0},
                       "request_rate": {"mean": 2.0}}}}}})


def vllm_metrics(prompt: int, output: int, requests: int, *, ttft_s: float, hits: int = 0, at: str = "") -> bytes:
    """Write a scrape of a server with two engines that share the counts."""
    head = f"# scraped_at {at}\n" if at else ""
    half = {0: (prompt // 2, output // 2, requests // 2), 1: (prompt - prompt // 2, output - output // 2, requests - requests // 2)}
    lines = []
    for engine, (p, o, n) in half.items():
        tag = f'engine="{engine}",model_name="alpha"'
        lines += [f"vllm:prompt_tokens_total{{{tag}}} {p}.0", f"vllm:generation_tokens_total{{{tag}}} {o}.0",
                  f"vllm:prefix_cache_queries_total{{{tag}}} {p}.0", f"vllm:prefix_cache_hits_total{{{tag}}} {hits / 2}",
                  f"vllm:time_to_first_token_seconds_sum{{{tag}}} {ttft_s / 2}", f"vllm:time_to_first_token_seconds_count{{{tag}}} {n}.0",
                  f'vllm:time_to_first_token_seconds_bucket{{{tag},le="+Inf"}} {n}.0']
    return (head + "# HELP vllm:prompt_tokens_total Number of prefill tokens processed.\n# TYPE vllm:prompt_tokens_total counter\n"
            + "\n".join(lines) + "\n").encode()


METRICS = vllm_metrics(1000, 100, 10, ttft_s=5.0)

EXPORTS: dict[str, tuple[bytes, str]] = {
    "anthropic_usage.csv": (ANTHROPIC_USAGE, "anthropic_usage"), "anthropic_cost.csv": (ANTHROPIC_COST, "anthropic_cost"),
    "anthropic_usage.json": (ANTHROPIC_USAGE_API, "anthropic_usage"), "anthropic_cost.json": (ANTHROPIC_COST_API, "anthropic_cost"),
    "openai_usage.csv": (OPENAI_USAGE, "openai_usage"), "openai_usage.json": (OPENAI_USAGE_API, "openai_usage"),
    "openai_costs.csv": (OPENAI_COSTS, "openai_costs"), "openai_costs.json": (OPENAI_COSTS_API, "openai_costs"),
    "openrouter_daily.csv": (OPENROUTER_DAILY, "openrouter"), "openrouter.json": (OPENROUTER_API, "openrouter"),
    "openrouter_generations.csv": (OPENROUTER_GENERATIONS, "openrouter"), "litellm_daily.json": (LITELLM_DAILY, "litellm_daily"),
    "litellm_logs.csv": (LITELLM_LOGS, "litellm_logs"), "litellm_export.csv": (LITELLM_EXPORT, "litellm_export"),
    "deepseek_usage.csv": (DEEPSEEK_USAGE, "deepseek_usage"), "deepseek_cost.csv": (DEEPSEEK_COST, "deepseek_cost"),
    "langfuse.csv": (LANGFUSE, "langfuse"), "langfuse_daily.json": (LANGFUSE_DAILY, "langfuse"), "helicone.csv": (HELICONE, "helicone"),
    "focus.csv": (FOCUS_TOKENS, "focus"), "focus_money_text.csv": (FOCUS_MONEY_TEXT, "focus"), "aws_cur.csv": (AWS_CUR, "aws_cur"),
    "aws_cur2.csv": (AWS_CUR2, "aws_cur"), "azure_cost.csv": (AZURE_COST, "azure_cost"), "gcp_billing.jsonl": (GCP_BILLING, "gcp_billing"),
    "azure_trace.csv": (AZURE_TRACE, "azure_trace"), "burstgpt.csv": (BURSTGPT, "burstgpt"), "mooncake.jsonl": (MOONCAKE, "mooncake"),
    "german.csv": (GENERIC_GERMAN, "generic"), "generic.csv": (GENERIC, "generic"), "vllm.json": (VLLM, "vllm_bench"),
    "sglang.jsonl": (SGLANG, "sglang_bench"), "inferencex.json": (INFERENCEX, "inferencex"), "inferencex.csv": (INFERENCEX_CSV, "inferencex"),
    "guidellm.json": (GUIDELLM_V1, "guidellm"), "inference_perf.json": (INFERENCE_PERF, "inference_perf"),
    "llmd.yaml": (LLMD_YAML, "llmd_report"), "llmd.json": (LLMD_V02, "llmd_report"), "metrics.prom": (METRICS, "vllm_metrics"),
}
